"""Blank images are found, and faint ones are not taken for them."""

import io
from dataclasses import replace

import numpy as np
from PIL import Image, ImageDraw

from tests.audit.held import exam, found


def canvas(level=128, size=(320, 240)):
    return Image.new("RGB", size, (level,) * 3)


def noisy(spread, level=128):
    grain = np.random.default_rng(level).normal(level, spread, (240, 320, 3))
    return Image.fromarray(grain.clip(0, 255).astype(np.uint8))


def compressed(image, **options):
    file = io.BytesIO()
    image.save(file, "JPEG", **options)
    return Image.open(file).convert("RGB")


def slope(levels):
    return Image.fromarray(np.tile(np.linspace(100, 100 + levels, 320), (240, 1)).astype(np.uint8))


BLANK = [
    *map(canvas, (0, 1, 60, 127, 200, 254, 255)),
    Image.new("RGB", (320, 240), (200, 20, 20)), Image.new("RGBA", (320, 240), (0, 0, 0, 0)),
    Image.new("L", (4000, 3), 9), Image.new("RGB", (1, 1), (9, 9, 9)),
    *map(noisy, (2, 5, 10, 20)), compressed(canvas(90), quality=5),
    compressed(noisy(8), quality=30), slope(3), slope(8), slope(11),
]  # fmt: skip


def with_mark(draw_mark):
    image = canvas(250)
    draw_mark(ImageDraw.Draw(image))
    return image


SHOWN = [
    slope(60), compressed(slope(90), quality=30),
    with_mark(lambda d: d.line((0, 120, 320, 120), fill="black")),
    with_mark(lambda d: d.text((20, 20), "7", fill="black")),
    with_mark(lambda d: d.ellipse((150, 110, 160, 120), fill=(200, 200, 200))),
    with_mark(lambda d: d.rectangle((5, 5, 315, 235), outline=(220, 220, 220))),
]  # fmt: skip


def test_blank_and_nearly_blank_images_are_found_and_no_other():
    held = exam("choice", n=len(BLANK) + len(SHOWN))
    images = dict(zip(held.images, [*BLANK, *SHOWN], strict=True))
    suspects = found(replace(held, images=images), "blank_images").suspects
    assert [suspect.about for suspect in suspects] == list(images)[: len(BLANK)]
