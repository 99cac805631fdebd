import io
from dataclasses import replace

import numpy as np
from PIL import Image, ImageDraw

from tests.audit.memory_evidence import MemoryEvidence, fair_exam, run_check
from tests.fakes.rows import question
from tests.fakes.written_images import saved


def plain_image(level):
    return Image.new("RGB", (320, 240), (level,) * 3)


def noisy_image(spread):
    grain = np.random.default_rng(128).normal(128, spread, (240, 320, 3))
    return Image.fromarray(grain.clip(0, 255).astype(np.uint8))


def compress(image, quality):
    return Image.open(io.BytesIO(saved(image, "JPEG", quality=quality))).convert("RGB")


def gradient_image(levels):
    """Grey that rises by a number of levels from left to right."""
    row = np.linspace(100, 100 + levels, 320).astype(np.uint8)
    return Image.fromarray(np.tile(row, (240, 1)))


BLANK = [
    *map(plain_image, (0, 1, 60, 127, 200, 254, 255)),
    Image.new("RGB", (320, 240), (200, 20, 20)), Image.new("RGBA", (320, 240), (0, 0, 0, 0)),
    Image.new("L", (4000, 3), 9), Image.new("RGB", (1, 1), (9, 9, 9)),
    *map(noisy_image, (2, 5, 10, 20)), compress(plain_image(90), quality=5),
    compress(noisy_image(8), quality=30), gradient_image(3), gradient_image(8), gradient_image(11),
]  # fmt: skip


def marked_image(draw_mark):
    image = plain_image(250)
    draw_mark(ImageDraw.Draw(image))
    return image


NOT_BLANK = [
    gradient_image(60), compress(gradient_image(90), quality=30),
    marked_image(lambda draw: draw.line((0, 120, 320, 120), fill="black")),
    marked_image(lambda draw: draw.text((20, 20), "7", fill="black")),
    marked_image(lambda draw: draw.ellipse((150, 110, 160, 120), fill=(200, 200, 200))),
    marked_image(lambda draw: draw.rectangle((5, 5, 315, 235), outline=(220, 220, 220))),
]  # fmt: skip


def test_only_blank_and_nearly_blank_images_are_suspects():
    evidence = fair_exam("choice", n=len(BLANK) + len(NOT_BLANK))
    images = dict(zip(evidence.images, [*BLANK, *NOT_BLANK], strict=True))
    suspects = run_check(replace(evidence, images=images), "blank_images").suspects
    assert [suspect.about for suspect in suspects] == list(images)[: len(BLANK)]


def test_a_question_without_two_of_its_images_counts_once():
    evidence = MemoryEvidence(questions=[question(images=("1", "2"))])
    finding = run_check(evidence, "missing_images")
    assert finding.sentence == "1 question is without an image; images that decode: 0."
