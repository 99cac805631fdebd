"""The map of two collections; UMAP itself takes half a minute to compile and is not run here."""

import xml.etree.ElementTree as ET

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.journeybench.diversity.measures import (
    OURS,
    THEIRS,
    MapPoint,
    as_svg,
    pair_objects,
    read_common_sense,
)


def test_the_drawing_has_a_dot_a_image_and_escapes_names():
    points = [
        MapPoint(image_id="<a>", image="1", collection=OURS, x=0.0, y=0.0),
        MapPoint(image_id="b", image="2", collection=THEIRS, x=5.0, y=1.0),
    ]
    drawing = ET.fromstring(as_svg(points))
    name = "{http://www.w3.org/2000/svg}"
    titles = [dot[0].text for dot in drawing.iter(f"{name}circle")]
    assert titles == ["<a>", "b"]
    assert [text.text for text in drawing.iter(f"{name}text")] == [OURS, THEIRS]


def listed(folder, text):
    file = folder / "pairs.tsv"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_pair_is_known_in_either_order_and_counts_once_a_image(tmp_path):
    known = read_common_sense(listed(tmp_path, "Dog\tAtLocation\tcar\nowl\ttree\n\ncat\tcat\n"))
    captions = ("a car and a dog on a moon", "the dog's car")
    rows = pair_objects("q/1", captions, [["car", "dog", "moon"], ["dog", "car"]], known)
    assert [(row.first, row.second, row.known) for row in rows] == [
        ("car", "dog", True),
        ("dog", "moon", False),
    ]
    assert rows[1].caption == captions[0]


def test_a_thing_that_is_named_twice_in_a_row_has_no_relation_with_itself():
    (row,) = pair_objects("q/1", ("a cat, a cat, a dog",), [["cat", "cat", "dog"]], frozenset())
    assert (row.first, row.second) == ("cat", "dog")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [pytest.param("dog car\n", "pairs.tsv, line 1: expected tab-separated columns", id="no tab")],
)
def test_other_lists_are_refused(tmp_path, text, complaint):
    with pytest.raises(SourceError, match=complaint):
        read_common_sense(listed(tmp_path, text))
