"""Points, boxes and puzzles of people reach the builders; pixels are calculated by hand."""

from itertools import chain
from random import Random

import pytest
from PIL import ExifTags, Image

from bench_assets.suites.blink.builders.circled_points import relative_depth, relative_reflectance
from bench_assets.suites.blink.builders.correspondences import (
    functional_correspondence,
    semantic_correspondence,
)
from bench_assets.suites.blink.builders.drafts import Marks
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
from tests.fakes.answers import answer, complaint
from tests.fakes.blink_builds import build_all
from tests.fakes.written_images import saved
from tests.suites.blink.builders.layouts import drafts, rejection_reasons, write_diw

FIVE_POINTS = ["0 0", "1 0", "0 1", "1 1", "0.5 0.5"]  # shares of width and height
SIX_POINTS = ["0 0", "0.5 0", "1 0", "0 1", "0.5 1", "1 1"]
TOOL_IMAGES = ["funkpoint/cut/knife/a.png", "funkpoint/cut/saw/b.png"]
CHAIR_IMAGES = ["spair/chair/a.png", "spair/chair/b.png"]


def png_image(orientation=1):
    """A PNG that is 200 x 100 px when it is shown."""
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    size = (200, 100) if orientation < 5 else (100, 200)
    return saved(Image.new("RGB", size), exif=exif)


def stored_image(name, orientation=1):
    return inspect_image(png_image(orientation), name, 10**6, 10**6)


def write_marks(folder, task, names, orientation=1, **values):
    """Write the raw data of images that a person has marked, each with the same values."""
    images = {name: stored_image(name, orientation) for name in names}
    marks = task.to_rows([answer(name, **values) for name in names])
    write_marked_data(folder, marks, [], images, lambda _: png_image(orientation))
    return folder


def test_an_answer_about_depth_has_two_points():
    (unit,) = DEPTH_POINTS.units([stored_image("diw/a.png")])
    two_points = answer(unit.unit_id, points=["0.1 0.2", "0.3 0.4"])
    assert complaint(DEPTH_POINTS.task, unit, two_points) == ""
    one_point = answer(unit.unit_id, points=["0.1 0.2"])
    assert complaint(DEPTH_POINTS.task, unit, one_point) == "points: 1 entry (expected 2 to 2)"


def test_an_answer_about_an_object_has_a_box():
    (unit,) = OBJECT_BOXES.units([stored_image("lvis/cup/a.png")])
    assert unit.shown == {"Object": "cup"}
    assert complaint(OBJECT_BOXES.task, unit, answer(unit.unit_id, boxes=["0 0 0.5 0.5"])) == ""
    assert complaint(OBJECT_BOXES.task, unit, answer(unit.unit_id, boxes=[])) == "boxes: empty"


@pytest.mark.parametrize("orientation", [1, 5, 6])
def test_the_first_point_of_depth_is_the_closer_one(tmp_path, orientation):
    """People see 200 x 100 px: (0.25, 0.5) is (50, 50), (0.75, 0.1) is (150, 10)."""
    points = ["0.25 0.5", "0.75 0.1"]
    folder = write_marks(tmp_path, DEPTH_POINTS, ["diw/a.png"], orientation, points=points)
    (draft,) = drafts(relative_depth(folder / "diw", Random(0)))
    (file,) = draft.originals
    assert file.read_bytes() == png_image(orientation)
    assert draft.points[file] == ((50.0, 50.0), (150.0, 10.0))


@pytest.mark.parametrize("orientation", [1, 5, 6])
def test_points_of_reflectance_lie_where_people_put_them(tmp_path, orientation):
    """People see 200 x 100 px: (0.2, 0.5) is (40, 50), (0.8, 0.4) is (160, 40)."""
    points = {"points": ["0.2 0.5", "0.8 0.4"], "darker": "the first point"}
    write_marks(tmp_path, REFLECTANCE_POINTS, ["iiw/a.jpg"], orientation, **points)
    (draft,) = drafts(relative_reflectance(tmp_path / "iiw", Random(0)))
    (file,) = draft.originals
    darker, lighter = draft.points[file]
    assert darker == pytest.approx((40, 50))
    assert lighter == pytest.approx((160, 40))


@pytest.mark.parametrize("orientation", [1, 5, 6])
@pytest.mark.parametrize(
    ("task", "build", "images", "marks"),
    [
        (FUNCTIONAL_POINTS, functional_correspondence, TOOL_IMAGES, FIVE_POINTS),
        (SEMANTIC_POINTS, semantic_correspondence, CHAIR_IMAGES, SIX_POINTS),
    ],
    ids=["functional", "semantic"],
)
def test_points_of_correspondences_lie_where_people_put_them(
    tmp_path, orientation, task, build, images, marks
):
    folder, _, _ = images[0].partition("/")
    write_marks(tmp_path, task, images, orientation, points=marks)
    (draft,) = drafts(build(tmp_path / folder, Random(0)))
    marked_points = {(200 * float(x), 100 * float(y)) for x, y in map(str.split, marks)}
    assert [len(points) for points in draft.points.values()] == [1, 4]
    assert marked_points.issuperset(chain.from_iterable(draft.points.values()))


def test_points_that_are_about_the_same_make_the_third_option_right(tmp_path):
    points = {"points": ["0.2 0.5", "0.8 0.5"], "darker": "about the same"}
    folder = write_marks(tmp_path, REFLECTANCE_POINTS, ["iiw/a.jpg"], **points)
    (draft,) = drafts(relative_reflectance(folder / "iiw", Random(0)))
    assert draft.places == (2,)


@pytest.mark.parametrize("orientation", [1, 5, 6])
def test_the_box_of_a_person_lies_on_the_upright_image(tmp_path, orientation):
    """People see 200 x 100 px: the box is from (50, 20) to (150, 70), a quarter of the image."""
    names = ["lvis/paper_cup/a.png"]
    folder = write_marks(tmp_path, OBJECT_BOXES, names, orientation, boxes=["0.25 0.2 0.75 0.7"])
    (draft,) = drafts(object_localization(folder / "lvis", Random(0)))
    (file,) = draft.originals
    assert file.read_bytes() == png_image(orientation)
    assert draft.points[file] == ((50.0, 20.0), (150.0, 70.0))
    assert "paper cup" in draft.show(0, Marks(height=100)).wording.question


def test_an_image_with_two_objects_of_a_kind_makes_no_question(tmp_path):
    boxes = ["0 0 0.4 0.9", "0.5 0 0.9 0.9"]
    folder = write_marks(tmp_path, OBJECT_BOXES, ["lvis/cup/a.png"], boxes=boxes)
    candidates = object_localization(folder / "lvis", Random(0))
    assert rejection_reasons(candidates) == ["no object alone of its kind and of a fit size"]


def test_people_are_asked_for_as_many_puzzles_as_the_paper_has():
    assert [unit.unit_id for unit in IQ_IMAGES.units()] == [f"puzzle-{n:03}" for n in range(1, 301)]


def test_a_puzzle_that_a_person_uploads_becomes_a_draft(tmp_path):
    unit, *_ = IQ_IMAGES.units()
    puzzle = answer(unit.unit_id, image="c" * 64, answer="D", explanation="It\nturns.")
    assert complaint(IQ_IMAGES.task, unit, puzzle) == ""
    write_marked_data(tmp_path, [], IQ_IMAGES.to_rows([puzzle]), {}, lambda sha: sha.encode())
    (draft,) = drafts(iq_test(tmp_path / "puzzles", Random(0)))
    assert (draft.places, draft.labels) == ((3,), {"explanation": "It turns."})
    assert draft.originals[0].read_bytes() == b"c" * 64


def test_marked_points_add_to_the_entries_of_the_source(tmp_path):
    source, added = tmp_path / "source", tmp_path / "added"
    write_diw(source / "diw")
    write_marks(added, DEPTH_POINTS, ["diw/a.png"], points=["0.25 0.5", "0.75 0.1"])
    store = ImageStore(folder=str(tmp_path / "store"))
    parameters = BuilderParameters(near_duplicate=-1)
    edition = build_all(source, added, store=store.put, edition="built", parameters=parameters)
    entries = {question.labels["entry"] for question in edition.questions}
    assert entries == {"./DIW_test/a.thumb", "marked_a.png"}
