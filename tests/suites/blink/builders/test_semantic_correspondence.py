from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.semantic_correspondence import build
from tests.suites.blink.builders.layouts import (
    circled,
    drafts,
    image,
    lettered,
    reasons,
    write_json,
)

FIRST = [[20, 20], [120, 20], [20, 120], [120, 120], [64, 200]]
SECOND = [[30, 60], [180, 60], [30, 160], [180, 160], [100, 230]]


def spair(folder, **fields):
    for name in ("a", "b"):
        image(folder / "JPEGImages" / "cat" / f"{name}.jpg", (256, 256))
    pair = {
        "src_imname": "a.jpg", "trg_imname": "b.jpg", "category": "cat",
        "src_kps": FIRST, "trg_kps": SECOND,
    } | fields  # fmt: skip
    write_json(folder / "PairAnnotation" / "test" / "1-a-b:cat.json", pair)
    return folder


@pytest.mark.parametrize("seed", range(6))
def test_the_right_point_is_that_of_the_same_number(tmp_path, seed):
    """Places are four times as large where the image is 1024 px high."""
    (draft,) = drafts(build(spair(tmp_path), Random(seed)))
    shown = draft.show(3, draft.marks)
    x, y = circled(shown.images[0])
    nth = FIRST.index([round(x / 4), round(y / 4)])
    expected = [4 * at for at in SECOND[nth]]
    assert lettered(shown.images[1], "ABCD")["D"] == pytest.approx(expected, abs=1.5)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param(
            {"src_kps": FIRST[:3], "trg_kps": SECOND[:3]},
            "four common points are needed, it has 3",
            id="three points",
        ),
        pytest.param(
            {"trg_kps": [[9, 9], [9, 10], [10, 9], [10, 10], [200, 200]]},
            "ambiguous: the points lie too close together",
            id="four points in one spot",
        ),
    ],
)
def test_what_is_ambiguous_is_refused(tmp_path, fields, reason):
    assert reasons(build(spair(tmp_path, **fields), Random(0))) == [reason]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        pytest.param({"trg_kps": SECOND[:4]}, "5 points correspond to 4", id="one is missing"),
        pytest.param({"src_kps": [[1]] * 5}, "point 1 of 'src_kps' is", id="one number"),
        pytest.param({"category": None}, "field 'category' is None", id="no category"),
    ],
)
def test_a_pair_of_another_form_is_named(tmp_path, fields, complaint):
    with pytest.raises(SourceError, match=f"1-a-b:cat.json: {complaint}"):
        list(build(spair(tmp_path, **fields), Random(0)))
