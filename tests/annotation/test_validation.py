"""Marks on images as values: inside of the image, as many as the form asks for."""

import pytest

from bench_assets.annotation.answers.validation import find_misfits
from bench_assets.annotation.tasks import AnnotationTask, Field

FORM = AnnotationTask(
    name="t/marks",
    title="",
    instructions="",
    fields=(
        Field(name="points", kind="points", label="", least=2, most=2, required=False),
        Field(name="boxes", kind="boxes", label="", most=2, required=False),
    ),
)


@pytest.mark.parametrize("point", ["0 0", "1 1", "1.000000 0.0", "0.25 .5"])
def test_points_inside_of_the_image_fit(point: str) -> None:
    assert find_misfits({"points": (point, "0.5 0.5")}, FORM, {}) == []


@pytest.mark.parametrize("point", ["1.01 0", "-0.1 0", "0.5", "0.5 0.5 0.5", "nan 0", "0.5, 0.5"])
def test_what_is_no_point_of_the_image_is_named(point: str) -> None:
    assert find_misfits({"points": (point, "0.5 0.5")}, FORM, {}) == [
        f"points: {point!r} is not a point of the image"
    ]


@pytest.mark.parametrize("box", ["0 0 1 1", "0.25 0.5 0.250001 1.0"])
def test_boxes_inside_of_the_image_fit(box: str) -> None:
    assert find_misfits({"boxes": (box,)}, FORM, {}) == []


@pytest.mark.parametrize(
    "box",
    [
        pytest.param("0.5 0 1.2 1", id="outside"),
        pytest.param("0.5 0 0.5 1", id="without width"),
        pytest.param("0.5 0.9 0.6 0.1", id="upside down"),
        pytest.param("0.5 0.5", id="a point"),
    ],
)
def test_what_is_no_box_of_the_image_is_named(box: str) -> None:
    assert find_misfits({"boxes": (box,)}, FORM, {}) == [
        f"boxes: {box!r} is not a box of the image"
    ]


def test_the_number_of_marks_is_that_of_the_form() -> None:
    values = {"points": ("0 0",), "boxes": ("0 0 1 1",) * 3}
    assert find_misfits(values, FORM, {}) == [
        "points: 1 entries (expected 2 to 2)",
        "boxes: 3 entries (expected 1 to 2)",
    ]
