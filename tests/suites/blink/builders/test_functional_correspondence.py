from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.functional_correspondence import build
from bench_assets.suites.blink.dataset.draft import Marks
from tests.suites.blink.builders.layouts import (
    circled,
    drafts,
    image,
    lettered,
    reasons,
    write_json,
)

POINTS = {
    "hammer": [[20, 20], [120, 20], [20, 120], [120, 120], [64, 200]],
    "pot": [[30, 60], [180, 60], [30, 160], [180, 160], [100, 230]],
}


def entry(folder, name, **fields):
    image(folder / f"{name}.jpg", (256, 256))
    return {
        "image": f"{name}.jpg", "object": name, "action": "Mash Pound", "points": POINTS[name],
    } | fields  # fmt: skip


def funkpoint(folder, **fields):
    write_json(
        folder / "annotations.json", [entry(folder, "hammer"), entry(folder, "pot", **fields)]
    )
    return folder


@pytest.mark.parametrize("seed", range(6))
def test_the_right_point_has_the_same_function_on_the_other_tool(tmp_path, seed):
    (draft,) = drafts(build(funkpoint(tmp_path), Random(seed)))
    first, second = (file.stem for file in draft.originals)
    assert {first, second} == {"hammer", "pot"}
    shown = draft.show(1, draft.marks)
    x, y = circled(shown.images[0])
    nth = POINTS[first].index([round(x / 4), round(y / 4)])
    expected = [4 * at for at in POINTS[second][nth]]
    assert lettered(shown.images[1], "ABCD")["B"] == pytest.approx(expected, abs=1.5)


def test_the_question_names_the_action(tmp_path):
    (draft,) = drafts(build(funkpoint(tmp_path), Random(0)))
    assert 'for the action: "Mash Pound"' in draft.show(0, Marks()).prompt


def test_two_images_of_one_tool_are_no_pair(tmp_path):
    one, other = entry(tmp_path, "hammer"), entry(tmp_path, "pot", object="hammer")
    write_json(tmp_path / "annotations.json", [one, other])
    assert list(build(tmp_path, Random(0))) == []


def test_points_in_one_spot_are_refused(tmp_path):
    close = [[9, 9], [9, 10], [10, 9], [10, 10], [200, 200]]
    entries = [entry(tmp_path, name, points=close) for name in POINTS]
    write_json(tmp_path / "annotations.json", entries)
    assert reasons(build(tmp_path, Random(0))) == ["ambiguous: the points lie too close together"]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        pytest.param({"points": [[1, 2]] * 4}, "'points' has 4 points, expected five", id="four"),
        pytest.param({"points": [[1, "x"]] * 5}, "point 1 is 'x'", id="a word"),
        pytest.param({"action": 3}, "field 'action' is 3", id="no action"),
    ],
)
def test_an_entry_of_another_form_is_named(tmp_path, fields, complaint):
    with pytest.raises(SourceError, match=rf"annotations.json, entry 2: .*{complaint}"):
        list(build(funkpoint(tmp_path, **fields), Random(0)))
