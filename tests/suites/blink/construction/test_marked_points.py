"""Points, boxes and puzzles of people, through the builders: shares become px by pencil."""

import io
from random import Random

import pytest
from PIL import Image

from bench_assets.suites.blink.builders.circled_points import (
    relative_depth,
    relative_reflectance,
)
from bench_assets.suites.blink.builders.correspondences import (
    functional_correspondence,
    semantic_correspondence,
)
from bench_assets.suites.blink.builders.drafts import Draft, Marks
from bench_assets.suites.blink.builders.object_localization import object_localization
from bench_assets.suites.blink.builders.whole_images import iq_test
from bench_assets.suites.blink.construction.marked_points import (
    DEPTH_POINTS,
    FUNCTIONAL_POINTS,
    IQ_IMAGES,
    OBJECT_BOXES,
    REFLECTANCE_POINTS,
    SEMANTIC_POINTS,
    write_marked_data,
)
from bench_assets.suites.blink.construction.recipes import BuilderParameters
from bench_resources.images.store import ImageStore, inspect_image
from tests.fakes.answers import answer, fits
from tests.fakes.blink_builds import build_all
from tests.suites.blink.builders.layouts import diw, reasons

FIVE = ["0 0", "1 0", "0 1", "1 1", "0.5 0.5"]
SIX = ["0 0", "0.5 0", "1 0", "0 1", "0.5 1", "1 1"]


def image(orientation=1):
    """A PNG that is 200 x 100 px when it is shown."""
    exif = Image.Exif()
    exif[274] = orientation
    size = (200, 100) if orientation < 5 else (100, 200)
    Image.new("RGB", size).save(file := io.BytesIO(), "PNG", exif=exif)
    return file.getvalue()


def stored(name, orientation=1):
    return inspect_image(image(orientation), name, 10**6, 10**6)


def written(folder, task, names, orientation=1, **values):
    images = {name: stored(name, orientation) for name in names}
    marks = task.to_rows([answer(name, **values) for name in names])
    write_marked_data(folder, marks, [], images, lambda _: image(orientation))
    return folder


def drafts(candidates):
    return [candidate for candidate in candidates if isinstance(candidate, Draft)]


def test_two_points_fit_an_image_and_a_box_fits_that_of_its_object():
    (unit,) = DEPTH_POINTS.units([stored("diw/a.png")])
    assert fits(DEPTH_POINTS.task, unit, answer(unit.unit_id, points=["0.1 0.2", "0.3 0.4"])) == ""
    short = answer(unit.unit_id, points=["0.1 0.2"])
    assert fits(DEPTH_POINTS.task, unit, short) == "points: 1 entries (expected 2 to 2)"
    (unit,) = OBJECT_BOXES.units([stored("lvis/cup/a.png")])
    assert unit.shown == {"Object": "cup"}
    assert fits(OBJECT_BOXES.task, unit, answer(unit.unit_id, boxes=["0 0 0.5 0.5"])) == ""
    assert fits(OBJECT_BOXES.task, unit, answer(unit.unit_id, boxes=[])) == "boxes: empty"


@pytest.mark.parametrize("orientation", [1, 5, 6])
def test_the_first_point_of_depth_is_the_closer_one(tmp_path, orientation):
    """People see 200 x 100 px: (0.25, 0.5) is (50, 50), (0.75, 0.1) is (150, 10)."""
    points = ["0.25 0.5", "0.75 0.1"]
    folder = written(tmp_path, DEPTH_POINTS, ["diw/a.png"], orientation, points=points)
    (draft,) = drafts(relative_depth(folder / "diw", Random(0)))
    (file,) = draft.originals
    assert file.read_bytes() == image(orientation)
    assert draft.points[file] == ((50.0, 50.0), (150.0, 10.0))


@pytest.mark.parametrize("orientation", [1, 5, 6])
def test_points_of_people_lie_where_they_put_them(tmp_path, orientation):
    points = {"points": ["0.2 0.5", "0.8 0.4"], "darker": "the first point"}
    written(tmp_path, REFLECTANCE_POINTS, ["iiw/a.jpg"], orientation, **points)
    (draft,) = drafts(relative_reflectance(tmp_path / "iiw", Random(0)))
    (darker, other) = draft.points[draft.originals[0]]
    assert (*darker, *other) == pytest.approx((40, 50, 160, 40))
    for task, build, names, marks in (
        (FUNCTIONAL_POINTS, functional_correspondence, ["cut/knife/a.png", "cut/saw/b.png"], FIVE),
        (SEMANTIC_POINTS, semantic_correspondence, ["chair/a.png", "chair/b.png"], SIX),
    ):
        folder = "funkpoint" if marks is FIVE else "spair"
        written(tmp_path, task, [f"{folder}/{n}" for n in names], orientation, points=marks)
        (draft,) = drafts(build(tmp_path / folder, Random(0)))
        put = {(200 * float(x), 100 * float(y)) for x, y in map(str.split, marks)}
        assert {point for points in draft.points.values() for point in points} <= put


def test_points_that_are_about_the_same_make_the_third_option_right(tmp_path):
    points = {"points": ["0.2 0.5", "0.8 0.5"], "darker": "about the same"}
    folder = written(tmp_path, REFLECTANCE_POINTS, ["iiw/a.jpg"], **points)
    (draft,) = drafts(relative_reflectance(folder / "iiw", Random(0)))
    assert draft.places == (2,)


@pytest.mark.parametrize("orientation", [1, 5, 6])
def test_a_box_is_the_right_one_of_two_on_the_upright_image(tmp_path, orientation):
    """People see 200 x 100 px: the box is from (50, 20) to (150, 70), a quarter of the image."""
    names = ["lvis/paper_cup/a.png"]
    folder = written(tmp_path, OBJECT_BOXES, names, orientation, boxes=["0.25 0.2 0.75 0.7"])
    (draft,) = drafts(object_localization(folder / "lvis", Random(0)))
    (file,) = draft.originals
    assert file.read_bytes() == image(orientation)
    assert draft.points[file] == ((50.0, 20.0), (150.0, 70.0))
    assert "paper cup" in draft.show(0, Marks(height=100)).wording.question


def test_an_image_with_two_objects_of_a_kind_makes_no_question(tmp_path):
    boxes = ["0 0 0.4 0.9", "0.5 0 0.9 0.9"]
    folder = written(tmp_path, OBJECT_BOXES, ["lvis/cup/a.png"], boxes=boxes)
    made = list(object_localization(folder / "lvis", Random(0)))
    assert reasons(made) == ["no object alone of its kind and of a fit size"]


def test_a_puzzle_that_somebody_brought_is_built(tmp_path):
    slots = IQ_IMAGES.units()
    assert (len(slots), slots[0].unit_id) == (300, "puzzle-001")
    puzzle = answer("puzzle-001", image="c" * 64, answer="D", explanation="It\nturns.")
    assert fits(IQ_IMAGES.task, slots[0], puzzle) == ""
    write_marked_data(tmp_path, [], IQ_IMAGES.to_rows([puzzle]), {}, lambda sha: sha.encode())
    (draft,) = drafts(iq_test(tmp_path / "puzzles", Random(0)))
    assert (draft.places, draft.labels) == ((3,), {"explanation": "It turns."})
    assert draft.originals[0].read_bytes() == b"c" * 64


def test_what_people_marked_follows_what_the_source_has(tmp_path):
    source, added = tmp_path / "source", tmp_path / "added"
    diw(source / "diw")
    written(added, DEPTH_POINTS, ["diw/a.png"], points=["0.25 0.5", "0.75 0.1"])
    store = ImageStore(folder=str(tmp_path / "store"))
    parameters = BuilderParameters(near_duplicate=-1)
    built = build_all(source, added, store=store.put, edition="built", parameters=parameters)
    entries = {question.labels["entry"] for question in built.questions}
    assert entries == {"./DIW_test/a.thumb", "marked_a.png"}
