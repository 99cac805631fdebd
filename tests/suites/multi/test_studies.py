import pytest

from bench_assets.core.schema.rows import Score
from bench_assets.suites.multi.studies import CONDITIONS, compare_conditions
from tests.fakes.multi_rows import question


def scored(example, points):
    return Score(question_id=example.question_id, model="m", condition="c", points=points)


ONE = question(question_id="multi/a_0", group_id="a", labels={"images": "SI"})
THREE = question("MA", "ABC", question_id="multi/b_0", group_id="b", labels={"images": "SI"})
PLAIN = question(question_id="multi/c_0", group_id="c")
NONE: dict[str, list[Score]] = {condition: [] for condition in CONDITIONS}


def gains(**scores):
    rows = compare_conditions([ONE, THREE, PLAIN], NONE | scores, "m")
    return {(row.condition, row.category): row for row in rows}


def test_the_gain_is_in_points_over_points_and_paired():
    gain = gains(
        main=[scored(ONE, 1.0), scored(THREE, 3.0)], no_image=[scored(ONE, 1.0), scored(THREE, 1.0)]
    )["main", "SI"]
    assert (gain.value, gain.baseline, gain.n_questions) == (1.0, 0.5, 2)
    assert gain.gain == pytest.approx(0.5)


def test_a_question_without_a_response_on_one_side_is_left_out_of_both():
    gain = gains(
        main=[scored(ONE, 1.0), scored(THREE, None)],
        no_image=[scored(ONE, 0.0), scored(THREE, 3.0)],
    )["main", "SI"]
    assert (gain.value, gain.baseline, gain.n_questions) == (1.0, 0.0, 1)


def test_several_responses_to_a_question_count_by_their_mean():
    gain = gains(main=[scored(ONE, 1.0), scored(ONE, 0.0)], no_image=[scored(ONE, 0.0)])
    assert (gain["main", "SI"].value, gain["main", "SI"].gain) == (0.5, pytest.approx(0.5))


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
