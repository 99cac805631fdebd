"""Points and puzzles of people, through the builders: shares become px by pencil."""

from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.blink.builders import (
    functional_correspondence,
    iq_test,
    relative_depth,
    relative_reflectance,
    semantic_correspondence,
)
from bench_assets.suites.blink.construction.marked_points import (
    DEPTH_POINTS,
    FUNCTIONAL_POINTS,
    IQ_IMAGES,
    REFLECTANCE_POINTS,
    SEMANTIC_POINTS,
    MarkedImage,
    overlaid,
    write_marked,
)
from bench_assets.suites.blink.dataset.draft import Draft
from tests.annotation.said import answer, fits

FIVE = ["0 0", "1 0", "0 1", "1 1", "0.5 0.5"]
SIX = ["0 0", "0.5 0", "1 0", "0 1", "0.5 1", "1 1"]


def stored(name):
    """An image of 200 x 100 px."""
    return StoredImage(name=name, sha256="a" * 64, format="PNG", width=200, height=100, n_bytes=1)


def written(folder, task, names, **values):
    images = {name: stored(name) for name in names}
    marks = task.to_rows([answer(name, **values) for name in names])
    write_marked(folder, marks, [], images, lambda _: b"image")
    return folder


def drafts(candidates):
    return [one for one in candidates if isinstance(one, Draft)]


def test_images_are_asked_about_by_the_folder_they_lie_in():
    images = [stored(name) for name in ("diw/a.png", "funkpoint/cut/knife/b.png", "stray.png")]
    (depth,) = DEPTH_POINTS.units(images)
    (tool,) = FUNCTIONAL_POINTS.units(images)
    assert (depth.unit_id, depth.shown) == ("diw/a.png", {})
    assert tool.shown == {"Action": "cut", "Object": "knife"}
    assert REFLECTANCE_POINTS.units(images) == SEMANTIC_POINTS.units(images) == []


@pytest.mark.parametrize(
    ("points", "complaint"),
    [
        pytest.param(["0.1 0.2", "0.3 0.4"], "", id="two points"),
        pytest.param(["0.1 0.2"], "points has 1 entries, expected 2 to 2", id="one"),
        pytest.param(
            ["0.1 0.2", "1.3 0.4"], "points: '1.3 0.4' is no place on the image", id="outside"
        ),
    ],
)
def test_two_points_on_the_image_fit(points, complaint):
    (unit,) = DEPTH_POINTS.units([stored("diw/a.png")])
    assert fits(DEPTH_POINTS.task, unit, answer(unit.unit_id, points=points)) == complaint


def test_the_first_point_of_depth_is_the_closer_one(tmp_path):
    """(0.25, 0.5) of 200 x 100 px is (50, 50); (0.75, 0.1) is (150, 10)."""
    folder = written(tmp_path, DEPTH_POINTS, ["diw/a.png"], points=["0.25 0.5", "0.75 0.1"])
    (draft,) = drafts(relative_depth.build(folder / "diw", Random(0)))
    (image,) = draft.originals
    assert image.read_bytes() == b"image"
    closer, farther = draft.points[image]
    assert (closer, farther) == ((50.0, 50.0), (150.0, 10.0))


@pytest.mark.parametrize(
    ("darker", "places"),
    [
        pytest.param("the first point", (0, 1), id="the first"),
        pytest.param("about the same", (2,), id="alike: the third option"),
    ],
)
def test_reflectance_is_as_the_person_says(tmp_path, darker, places):
    folder = written(
        tmp_path, REFLECTANCE_POINTS, ["iiw/a.jpg"], points=["0.2 0.5", "0.8 0.5"], darker=darker
    )
    (draft,) = drafts(relative_reflectance.build(folder / "iiw", Random(0)))
    assert draft.places == places
    assert draft.originals[0].read_bytes() == b"image"


def test_two_images_of_one_name_and_other_ends_stay_two(tmp_path):
    names = ["iiw/a.jpg", "iiw/a.png"]
    folder = written(
        tmp_path, REFLECTANCE_POINTS, names, points=["0.2 0.5", "0.8 0.5"], darker="about the same"
    )
    assert len(drafts(relative_reflectance.build(folder / "iiw", Random(0)))) == 2


def test_five_points_of_two_tools_make_a_question_about_one(tmp_path):
    names = ["funkpoint/cut/knife/a.png", "funkpoint/cut/saw/b.png"]
    folder = written(tmp_path, FUNCTIONAL_POINTS, names, points=FIVE)
    (draft,) = drafts(functional_correspondence.build(folder / "funkpoint", Random(0)))
    corners = {(0.0, 0.0), (200.0, 0.0), (0.0, 100.0), (200.0, 100.0), (100.0, 50.0)}
    first, second = draft.originals
    assert set(draft.points[second]) < corners
    assert draft.points[second][0] == draft.points[first][0]  # the n-th of both


def test_six_points_of_two_things_of_a_kind_make_a_question_about_one(tmp_path):
    names = [f"spair/chair/{name}.png" for name in "abc"]  # the third has no partner
    folder = written(tmp_path, SEMANTIC_POINTS, names, points=SIX)
    (draft,) = drafts(semantic_correspondence.build(folder / "spair", Random(0)))
    first, second = draft.originals
    assert draft.points[second][0] == draft.points[first][0]


def test_the_first_who_marked_a_image_counts(tmp_path):
    marks = [
        MarkedImage(image="diw/a.png", person=who, points=points)
        for who, points in (("ana", ((0.0, 0.0), (1.0, 1.0))), ("bo", ((1.0, 1.0), (0.0, 0.0))))
    ]
    write_marked(tmp_path, marks, [], {"diw/a.png": stored("diw/a.png")}, lambda _: b"p")
    (draft,) = drafts(relative_depth.build(tmp_path / "diw", Random(0)))
    assert draft.points[draft.originals[0]] == ((0.0, 0.0), (200.0, 100.0))


def test_a_puzzle_that_somebody_brought_is_built(tmp_path):
    slots = IQ_IMAGES.units()
    assert (len(slots), slots[0].unit_id) == (300, "puzzle-001")
    said = answer("puzzle-001", image="c" * 64, answer="D", explanation="It\nturns.")
    assert fits(IQ_IMAGES.task, slots[0], said) == ""
    write_marked(tmp_path, [], IQ_IMAGES.to_rows([said]), {}, lambda sha: sha.encode())
    (draft,) = iq_test.build(tmp_path / "puzzles", Random(0))
    assert (draft.places, draft.labels) == ((3,), {"explanation": "It turns."})
    assert draft.originals[0].read_bytes() == b"c" * 64


def test_what_people_marked_stands_beside_what_the_source_has(tmp_path):
    source, added, both = (tmp_path / name for name in ("source", "added", "both"))
    for folder in (source / "diw", source / "other", both):
        folder.mkdir(parents=True)
    (source / "diw/b.png").write_bytes(b"theirs")
    (source / "diw/DIW_test.csv").write_text("b.png\n11,11,91,91,>,200,100")
    (source / "other/file").write_text("untouched")
    written(added, DEPTH_POINTS, ["diw/a.png"], points=["0.25 0.5", "0.75 0.1"])
    overlaid(source, added, both)
    found = drafts(relative_depth.build(both / "diw", Random(0)))
    assert {one.originals[0].read_bytes() for one in found} == {b"theirs", b"image"}
    assert (both / "other/file").read_text() == "untouched"
    assert (source / "diw/DIW_test.csv").read_text().count("\n") == 1  # the source is not changed


def test_lists_of_entries_are_joined_and_anything_else_is_refused(tmp_path):
    source, added, both = (tmp_path / name for name in ("source", "added", "both"))
    for folder in (source / "funkpoint", added / "funkpoint", both):
        folder.mkdir(parents=True)
    (source / "funkpoint/annotations.json").write_text("[1]")
    (added / "funkpoint/annotations.json").write_text("[2]")
    overlaid(source, added, both)
    assert (both / "funkpoint/annotations.json").read_text().split() == ["[", "1,", "2", "]"]
    (source / "funkpoint/annotations.json").write_text("{}")
    with pytest.raises(SourceError, match="rename one"):
        overlaid(source, added, tmp_path)


def test_nothing_said_writes_nothing(tmp_path):
    write_marked(tmp_path, [], [], {}, lambda _: b"")
    assert list(tmp_path.iterdir()) == []
