from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.visual_similarity import build
from tests.suites.blink.builders.layouts import drafts, image, reasons, write_csv


def nights(folder, **fields):
    row = {
        "id": 5, "left_vote": 1.0, "right_vote": 0.0, "votes": 7,
        "ref_path": "ref/5.png", "left_path": "distort/5_0.png", "right_path": "distort/5_1.png",
    } | fields  # fmt: skip
    for nth, side in enumerate(("ref", "left", "right")):
        image(folder / row[f"{side}_path"], colour=(nth, nth, nth))
    write_csv(folder / "data.csv", [row])
    return folder


@pytest.mark.parametrize(
    ("votes", "chosen"),
    [
        pytest.param((1.0, 0.0), "distort/5_0.png", id="people chose the left"),
        pytest.param((0.0, 1.0), "distort/5_1.png", id="people chose the right"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_the_one_people_chose_stands_in_its_place(tmp_path, votes, chosen, place):
    source = nights(tmp_path, left_vote=votes[0], right_vote=votes[1])
    (draft,) = drafts(build(source, Random(0)))
    reference, *options = draft.show(place, draft.marks).images
    assert reference == (tmp_path / "ref" / "5.png").read_bytes()
    assert options[place] == (tmp_path / chosen).read_bytes()
    assert options[0] != options[1]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"votes": 5}, "only 5 people agreed", id="too few"),
        pytest.param(
            {"left_vote": 0.6, "right_vote": 0.4}, "people disagree: 0.6 to 0.4", id="divided"
        ),
    ],
)
def test_what_is_ambiguous_is_refused(tmp_path, fields, reason):
    assert reasons(build(nights(tmp_path, **fields), Random(0))) == [reason]


def test_a_vote_that_is_no_number_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"data.csv, id 5: a vote is not a number"):
        list(build(nights(tmp_path, votes="many"), Random(0)))


def test_columns_that_are_missing_are_named(tmp_path):
    write_csv(tmp_path / "data.csv", [{"id": 5, "votes": 7}])
    with pytest.raises(SourceError, match=r"data.csv: no columns \['left_path'"):
        list(build(tmp_path, Random(0)))
