"""Which entries are asked, and why the others are not."""

from dataclasses import replace

import pytest

from hallusion_bench.select import edition_of, select


@pytest.fixture
def pair(entry):
    return [entry("VS/map/0/0/0", "0", "1"), entry("VS/map/0/1/0", "1", "1")]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"image": "VS/map/9_9.png"}, "VS/map/9_9.png is missing", id="no figure"),
        pytest.param({"image": ""}, "filename names no figure", id="no name of a figure"),
        pytest.param({"visual_input": "3"}, "visual_input is '3'", id="something else is shown"),
        pytest.param({"visual_input": "0"}, "without a figure", id="asked without, not of VS 0"),
        pytest.param({"answer": "yes"}, "gt_answer is 'yes', expected 0 (no)", id="another answer"),
        pytest.param({"question": " "}, "the question is empty", id="no question"),
        pytest.param({"reference": ""}, "gt_answer_details is empty", id="no reference"),
        pytest.param({"category": "VX"}, "category is 'VX', expected VD or VS", id="a category"),
        pytest.param({"set_id": "0/1"}, "a part of its id is empty or holds", id="an id in two"),
        pytest.param({"set_id": ""}, "a part of its id is empty or holds", id="an empty id"),
        pytest.param({"figure_id": "0"}, "an earlier entry has the same id", id="an id twice"),
        pytest.param({"question_id": "7"}, "is not asked about figure 0", id="nothing to compare"),
    ],
)
def test_a_faulty_entry_is_left_out_with_a_reason_and_the_rest_stays(entry, pair, fields, reason):
    faulty = replace(entry("VS/map/0/2/0", "2", "0"), **fields)
    found = select([*pair, faulty], {"VS/map/0_1.png", "VS/map/0_2.png"})
    assert found.asked == pair
    assert any(reason in rejection.reason for rejection in found.rejections), found.rejections
    assert {r.entry for r in found.rejections} == {f"HallusionBench.json, {faulty.name}"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"image": "VS/map/0_1.png"}, "names a figure", id="a figure for none"),
        pytest.param({"category": "VD"}, "without a figure", id="VD without a figure"),
        pytest.param({"visual_input": "1"}, "without a figure", id="VS of figure 0 with one"),
    ],
)
def test_what_figure_0_may_not_be_takes_its_pair_along(entry, pair, fields, reason):
    found = select([replace(pair[0], **fields), pair[1]], {"VS/map/0_1.png"})
    assert found.asked == []
    assert any(reason in rejection.reason for rejection in found.rejections)
    assert "is not asked about figure 0" in found.rejections[-1].reason


def test_a_selection_of_the_release_is_an_edition_of_ones_own(pair):
    assert edition_of(pair) == "own"
