"""The shortcuts, on exams of a few questions that each gives away."""

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.schema.rows import Question
from tests.fakes.fair_exam import chance, cues, shortcuts, unfair
from tests.fakes.rows import question


def exam_question(options: Sequence[str], right: str, **fields: Any) -> Question:
    """A question whose right option is named by its text."""
    return question(
        kind="choice", options=options, answer=(ascii_uppercase[options.index(right)],), **fields
    )


def sizes(image: str) -> int:
    return int(image.rpartition(":")[2])


@pytest.mark.parametrize(
    ("name", "exam"),
    [
        pytest.param(
            "always the first option",
            [exam_question(("x", "y"), "x"), exam_question(("y", "x"), "y")],
            id="the key is always A",
        ),
        pytest.param(
            "the most frequent letter",
            [exam_question(("x", "y"), "y"), exam_question(("y", "x"), "x")],
            id="the key is always B",
        ),
        pytest.param(
            "the most frequent answer",
            [exam_question(("x", "y"), "y"), exam_question(("y", "x"), "y")],
            id="one of the options is always right",
        ),
        pytest.param(
            "the longest option",
            [
                exam_question(("it is so", "no"), "it is so"),
                exam_question(("a", "very much"), "very much"),
            ],
            id="the right option says most",
        ),
        pytest.param(
            "the number nearest to 3.25",
            [
                exam_question(("3", "9", "7"), "3"),
                exam_question(("8", "2", "6"), "2"),
                exam_question(("1", "4"), "4"),
            ],
            id="the right number is about 3",
        ),
        pytest.param(
            "the answer to the same question about another image",
            [
                exam_question(("red", "blue"), "blue", text="colour?", images=("1",)),
                exam_question(("blue", "red"), "blue", text="colour?", images=("2",)),
                exam_question(("cat", "dog"), "cat", text="animal?", images=("1",)),
                exam_question(("dog", "cat"), "cat", text="animal?", images=("2",)),
            ],
            id="the text of the question settles it",
        ),
        pytest.param(
            "the answer to the same question in the same context",
            [
                exam_question(("up", "down"), "up", text="where?", context="a", images=("1",)),
                exam_question(("down", "up"), "up", text="where?", context="a", images=("2",)),
                exam_question(("up", "down"), "down", text="where?", context="b", images=("1",)),
                exam_question(("down", "up"), "down", text="where?", context="b", images=("2",)),
            ],
            id="the context settles it",
        ),
    ],
)
def test_an_exam_that_a_shortcut_passes_is_unfair(name: str, exam: list[Question]) -> None:
    assert shortcuts([exam])[name] == 1.0
    assert name in unfair([exam], sizes)


@pytest.mark.parametrize(
    ("name", "sizes_of_exams"),
    [
        pytest.param("the least file size", [("9", "7")], id="the smallest file"),
        pytest.param(
            "the nearest file size", [("7", "9", "8"), ("9", "5", "8")], id="like the first one's"
        ),
    ],
)
def test_sizes_of_files_are_tried(name: str, sizes_of_exams: list[tuple[str, ...]]) -> None:
    exam = [
        exam_question(
            ("x", "y"), "y", images=[f"{n} {place}:{size}" for place, size in enumerate(of)]
        )
        for n in range(12)
        for of in [sizes_of_exams[n % len(sizes_of_exams)]]
    ]
    exam += [
        exam_question(("x", "y"), "x", images=[*one.images[:-2], *one.images[:-3:-1]])
        for one in exam
    ]
    assert cues([exam], sizes)[name].share == 1.0
    assert name in unfair([exam], sizes)


def test_an_exam_in_which_every_option_is_right_as_often_as_any_other_is_fair() -> None:
    numbers = ("4", "5", "6", "7")
    exam = [exam_question(numbers, right, images=(f"{right}:7",)) for right in numbers]
    assert set(shortcuts([exam]).values()) <= {0.25, 0.0}
    assert unfair([exam], sizes) == {}


def test_shares_and_chance_are_over_the_questions_of_all_seeds() -> None:
    exams = [
        [exam_question(("x", "y"), "x")],
        [exam_question(("x", "y", "z"), "y"), exam_question(("x", "y", "z"), "x")],
    ]
    assert chance(exams) == (1 / 2 + 1 / 3 + 1 / 3) / 3
    assert shortcuts(exams)["always the first option"] == 2 / 3


def test_texts_without_options_can_be_guessed_by_the_most_frequent_one() -> None:
    exam = [question(text=f"{n}?", answer=(right,)) for n, right in enumerate(("2", "2", "2", "5"))]
    assert shortcuts([exam])["the most frequent answer"] == 3 / 4


def shades(image: str) -> Image.Image:
    """An image of two levels: their middle and half of their distance follow its name."""
    middle, spread = map(int, image.partition(":")[2].split("+"))
    pixels = np.full((8, 8), middle, np.uint8)
    pixels[::2] += spread
    pixels[1::2] -= spread
    return Image.fromarray(pixels)


SECOND_OR_THIRD = ("the second image", "the third image")


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        pytest.param("the least contrast", "90+5", ["90+50"], id="the flat one"),
        pytest.param("the greatest brightness", "200+9", ["90+9"], id="the bright one"),
        pytest.param("the least sharpness", "90+4", ["90+60"], id="the smooth one"),
        pytest.param("the nearest brightness", "99+9", ["180+9", "20+9"], id="like the first"),
    ],
)
def test_statistics_of_images_are_tried(name: str, right: str, wrong: list[str]) -> None:
    exam = [
        exam_question(
            SECOND_OR_THIRD,
            SECOND_OR_THIRD[nth % 2],
            images=[f"{nth} {place}:{levels}" for place, levels in enumerate(("100+20", *options))],
        )
        for nth in range(24)
        for other in [wrong[nth // 2 % len(wrong)]]
        for options in [(right, other) if nth % 2 == 0 else (other, right)]
    ]
    assert cues([exam], lambda _: 1, shades)[name].share == 1.0
    assert name in unfair([exam], lambda _: 1, shades)


def test_a_letter_that_follows_from_the_light_is_learned_on_the_other_exams() -> None:
    exams = [
        [
            exam_question(
                ("yes", "no"), "yes" if level > 100 else "no", images=(f"{seed}:{level}+{n}",)
            )
            for n in range(9)
            for level in (60, 140)
        ]
        for seed in range(2)
    ]
    found = unfair(exams, lambda _: 1, shades)
    assert found["images of like brightness"] == 1.0
    assert "images of like contrast" not in found
