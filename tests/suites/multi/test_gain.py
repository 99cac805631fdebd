from math import isnan

import pytest

from bench_assets.core.schema.rows import Score
from bench_assets.suites.multi.studies import CONDITIONS, information_gain
from tests.suites.multi.rows import question


def score(asked, points):
    return Score(question_id=asked.question_id, model="m", condition="c", points=points)


ONE = question(question_id="multi/a_0", group_id="a", labels={"images": "SI"})
THREE = question("MA", "ABC", question_id="multi/b_0", group_id="b", labels={"images": "SI"})
PLAIN = question(question_id="multi/c_0", group_id="c")
NONE = {condition: [] for condition in CONDITIONS}


def gains(**scores):
    rows = information_gain([ONE, THREE, PLAIN], NONE | scores, "m")
    return {(row.condition, row.category): row for row in rows}


def test_the_gain_is_in_points_over_points_and_paired():
    found = gains(
        main=[score(ONE, 1.0), score(THREE, 3.0)], no_image=[score(ONE, 1.0), score(THREE, 1.0)]
    )["main", "SI"]
    assert (found.value, found.baseline, found.n_questions) == (1.0, 0.5, 2)
    assert found.gain == pytest.approx(0.5)
    assert -1 <= found.low <= found.gain <= found.high <= 1


def test_a_question_without_a_response_on_one_side_is_left_out_of_both():
    found = gains(
        main=[score(ONE, 1.0), score(THREE, None)], no_image=[score(ONE, 0.0), score(THREE, 3.0)]
    )["main", "SI"]
    assert (found.value, found.baseline, found.n_questions) == (1.0, 0.0, 1)


def test_knowledge_is_compared_over_all_questions_with_being_asked_without():
    found = gains(with_knowledge=[score(PLAIN, 1.0)], main=[score(PLAIN, 0.0)])
    row = found["with_knowledge", "all"]
    assert (row.compared_with, row.gain, row.n_questions) == ("main", 1.0, 1)


def test_without_questions_there_is_no_gain_rather_than_none():
    row = gains()["main", "MI"]
    assert isnan(row.gain)
    assert row.n_questions == 0


def test_the_comparisons_are_those_of_tables_6_and_8():
    assert set(gains()) == {
        ("main", "SI"),
        ("main", "MI"),
        ("captions_for_images", "SI"),
        ("captions_for_images", "MI"),
        ("ocr_for_images", "SI"),
        ("ocr_for_images", "MI"),
        ("with_knowledge", "all"),
    }
