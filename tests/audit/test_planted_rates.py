"""Twenty defects of a kind among 400 questions: how many are found, and what else is."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw

from bench_assets.audit.items.ambiguous_options import canonical_option
from bench_assets.core.schema.rows import Prediction
from tests.audit.held import exam, found

PLANTED = 20


@pytest.fixture(scope="module")
def large():
    return exam("choice", n=400, seed=5)


def suspects(held, check):
    return {one.about for one in found(held, check).suspects}


def rates(held, check, planted):
    """Recall, and the number of others that are suspected."""
    named = suspects(held, check)
    return len(named & planted) / len(planted), len(named - planted)


SAME = [
    ("three", "3"), ("1/2", "0.5"), ("50 cm", "0.5 m"), ("red and blue", "blue and red"),
    ("grey", "gray"), ("two dogs", "2 dogs"), ("dark blue", "dark-blue"),
    ("cell phone", "cellphone"), ("the man is taller", "the woman is shorter"), ("bike", "bicycle"),
]  # fmt: skip
DIFFERENT = [
    ("3", "13"), ("left", "right"), ("red", "dark red"), ("1/2", "1/3"), ("50 cm", "50 m"),
    ("Aa", "aa"), ("x + 1", "x - 1"), ("before", "after"), ("a man and a woman", "a woman"),
    ("10 %", "10"), ("7 am", "19:00"), ("not red", "red"), ("north", "northeast"), ("m/s", "s/m"),
    ("more than 3", "less than 3"), ("half past three", "3:00"),
    ("all of the above", "none of these"),
    ("bike", "motorbike"), ("1.5", "15"), ("red, then blue", "blue, then red"),
]  # fmt: skip


def offering(held, pairs):
    """Offer a pair of options in the first questions, one of them right."""
    changed = [
        replace(one, options=(*pair, "zebra", "yacht"), answer=("A",))
        for one, pair in zip(held.questions, pairs, strict=False)
    ]
    return replace(held, questions=[*changed, *held.questions[len(pairs) :]])


def test_options_of_one_meaning(large):
    """Eight of ten: that sentences are converses, and words synonyms, is beyond spelling."""
    planted = {f"exam/{n}" for n in range(len(SAME))}
    assert rates(offering(large, SAME), "ambiguous_options", planted) == (0.8, 0)
    assert suspects(offering(large, DIFFERENT), "ambiguous_options") == set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *[("1 1/2", "1.5"), ("five and a half", "5.5"), ("1e3", "1000"), ("2 feet", "24 inches")],
        *[("1 lb", "16 oz"), ("70 °F", "70 degrees Fahrenheit"), ("two weeks", "14 days")],
        *[("3/4", "75 %"), ("3 and a quarter", "13/4")],
    ],
)
def test_more_pairs_of_one_meaning(one, other):
    assert canonical_option(one) == canonical_option(other)


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


def levels(values):
    return Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))


def test_blank_and_nearly_blank_images(large):
    shown = dict(zip(large.images, [*BLANK, *SHOWN], strict=False))
    planted = set(list(shown)[: len(BLANK)])
    assert len(planted) == PLANTED
    held = replace(large, images={**large.images, **shown})
    assert rates(held, "blank_images", planted) == (1.0, 0)


def responses(held, known, seed):
    """A model that knows some answers and guesses the others, with images and without."""
    rng = np.random.default_rng(seed)
    guessed = {one.question_id: "ABCD"[int(rng.integers(4))] for one in held.questions}
    rows = []
    for condition, decoding, sees in (("main", f"m{seed}", True), ("main", "b,text_only", False)):
        for one in held.questions:
            knows = one.question_id in known or (sees and rng.random() < 0.8)
            text = one.answer[0] if knows else guessed[one.question_id]
            rows.append(Prediction(question_id=one.question_id, model=f"{decoding} {seed}",
                                   condition=condition, text=text, decoding=decoding))  # fmt: skip
    return rows


@pytest.mark.parametrize(
    ("share", "passed"),
    [
        pytest.param(0.15, False, id="fifteen of a hundred are solved without their images"),
        pytest.param(0.0, True, id="none but by luck"),
    ],
)
def test_questions_that_are_solved_blind(large, share, passed):
    known = {one.question_id for one in large.questions[: int(share * 400)]}
    predictions = [row for seed in (1, 2, 3) for row in responses(large, known, seed)]
    finding = found(replace(large, responses=predictions), "needs_images")
    assert finding.passed == passed, finding.sentence
    if not passed:
        named = {one.about for one in finding.suspects}
        assert known <= named
        # By luck two of three guesses agree on the key: 3 (1/4)² 3/4 + (1/4)³ = 16 % of the rest.
        assert len(named - known) <= 0.2 * 400


def test_repeated_questions_with_other_answers(large):
    """In words that change nothing; and twenty that differ in a word that matters."""

    def again(one, ending, old, new):
        """The same options, in the same order, another of them right."""
        other = "ABCD"["ABCD".index(one.answer[0]) - 1]
        text = one.text.replace(old, new)
        return replace(one, question_id=f"{one.question_id}/{ending}", text=text, answer=(other,))

    first, second = large.questions[:PLANTED], large.questions[PLANTED : 2 * PLANTED]
    same = [
        again(one, "again", "Which thing lies", "Please look: which things do lie") for one in first
    ]
    apart = [again(one, "apart", "between", "above") for one in second]
    held = replace(large, questions=[*large.questions, *same, *apart])
    named = suspects(held, "contradicting_keys")
    assert named <= {one.question_id for one in (*first, *same)}
    assert len(named) >= PLANTED
