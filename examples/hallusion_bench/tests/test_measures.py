"""Every measure on tables that can be counted with a pencil."""

from dataclasses import replace
from math import isnan

import pytest

from bench_assets.core.schema.rows import Score
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ScoredQuestion
from hallusion_bench.scoring import DIFFERENT, SAME
from hallusion_bench.task import TASK
from tests.rows import prediction

# id, what is shown, answer; then as judged: correct, incorrect or unclear, and compared how
TABLE = [
    ("VD/illusion/0/0/0", "1", "1", "correct", ""),
    ("VD/illusion/0/0/1", "1", "0", "correct", ""),
    ("VD/illusion/0/1/0", "2", "0", "incorrect", SAME),  # mixed
    ("VD/illusion/0/1/1", "2", "1", "correct", ""),
    ("VS/chart/0/0/0", "0", "1", "unclear", ""),  # right: there is nothing to see
    ("VS/chart/0/0/1", "0", "0", "incorrect", ""),  # language hallucination
    ("VS/chart/0/1/0", "1", "1", "correct", ""),
    ("VS/chart/0/1/1", "1", "0", "incorrect", SAME),  # language hallucination
    ("VS/chart/0/2/0", "2", "0", "incorrect", DIFFERENT),  # visual illusion
    ("VS/chart/0/2/1", "2", "1", "unclear", ""),  # mixed
]


@pytest.fixture
def table(entry, ask):
    questions = ask([entry(*row[:3]) for row in TABLE])
    return [_scored(question, *row[3:]) for question, row in zip(questions, TABLE, strict=True)]


def _scored(question, value, note):
    gold = question.answer[0]
    answer = {"correct": (gold,), "incorrect": ("no" if gold == "yes" else "yes",)}.get(value, ())
    right = value == "correct" or (value == "unclear" and not question.images)
    said = prediction(question_id=question.question_id)
    return ScoredQuestion(question, Score.of(said, points=float(right), answer=answer, note=note))


@pytest.mark.parametrize(
    ("measure", "value", "n"),
    [
        pytest.param("a_acc", 5 / 10, 10, id="aAcc: 5 of 10 questions"),
        pytest.param("q_acc", 1 / 4, 4, id="qAcc: 1 of 4 pairs"),
        pytest.param("f_acc", 1 / 4, 4, id="fAcc: 1 of 4 figures"),
        pytest.param("inconsistent", 2 / 4, 4, id="2 of 4 figures are right in part"),
        pytest.param("consistently_wrong", 1 / 4, 4, id="1 of 4 figures is all wrong"),
        pytest.param("easy_acc", 3 / 4, 4, id="easy: 3 of 4 pairs"),
        pytest.param("hard_acc", 1 / 4, 4, id="hard: 1 of 4 pairs"),
        pytest.param("yes_difference", (4 - 1) / 10, 10, id="4 yes too many, 1 too few"),
        pytest.param("fp_ratio", 4 / 5, 5, id="4 of 5 wrong ones should be no"),
        pytest.param("language_hallucination", 2 / 5, 5, id="2 of 5 failures: language"),
        pytest.param("visual_illusion", 1 / 5, 5, id="1 of 5 failures: sight"),
        pytest.param("mixed", 2 / 5, 5, id="2 of 5 failures: either"),
    ],
)
def test_a_measure_counts(table, measure, value, n):
    found = TASK.measures[measure](table)
    assert (found.value, found.n_scored, found.n_unscored) == (pytest.approx(value), n, 0)
    assert found.low <= found.value <= found.high


def test_a_pair_of_which_a_question_lacks_is_unscored_and_so_is_its_figure(table):
    rest = [one for one in table if one.question.question_id != "hallusion_bench/VS/chart/0/1/0"]
    found = {name: measure(rest) for name, measure in TASK.measures.items()}
    for name, n in {"q_acc": 3, "easy_acc": 3, "f_acc": 3, "inconsistent": 3, "a_acc": 9}.items():
        assert (found[name].n_scored, found[name].n_unscored) == (n, int(name != "a_acc")), name


def test_what_the_judge_left_open_is_unscored_everywhere(table):
    """The response about figure 0 of the last pair.

    What is compared with it cannot be told apart.
    """
    question, score = table[5]
    table[5] = ScoredQuestion(question, replace(score, points=None, answer=()))
    found = {name: measure(table) for name, measure in TASK.measures.items()}
    assert (found["a_acc"].n_scored, found["a_acc"].n_unscored) == (9, 1)
    assert (found["q_acc"].n_scored, found["q_acc"].n_unscored) == (3, 1)
    assert (found["hard_acc"].n_scored, found["hard_acc"].n_unscored) == (4, 0)
    assert (found["f_acc"].n_scored, found["f_acc"].n_unscored) == (4, 0)
    assert (found["mixed"].n_scored, found["mixed"].n_unscored) == (2, 3)
    assert (found["yes_difference"].n_unscored, found["fp_ratio"].n_unscored) == (1, 1)


def test_a_response_that_nobody_compared_is_left_out_of_the_diagnosis(table):
    question, score = table[2]
    table[2] = ScoredQuestion(question, replace(score, note=""))
    found = TASK.measures["mixed"](table)
    assert (found.value, found.n_scored, found.n_unscored) == (1 / 4, 4, 1)


def test_without_failures_there_is_no_diagnosis(table):
    right = [one for one in table if one.score.points]
    assert isnan(TASK.measures["mixed"](right).value)
    assert isnan(TASK.measures["fp_ratio"](right).value)


def test_slices_are_the_categories_and_their_topics(table):
    assert TASK.slices(table[0].question) == ("VD", "VD/illusion")


@pytest.mark.parametrize("measure", ["a_acc", "q_acc", "f_acc", "easy_acc", "hard_acc"])
def test_questions_of_one_set_are_not_independent(table, measure):
    """One set is all right and the other all wrong: it says less than as many sets as questions."""
    table = [
        ScoredQuestion(q, replace(score, points=float("VD" in q.group_id))) for q, score in table
    ]
    apart = [
        ScoredQuestion(replace(q, labels=q.labels | {"set": q.question_id}), score)
        for q, score in table
    ]
    together, alone = TASK.measures[measure](table), TASK.measures[measure](apart)
    assert together.value == alone.value
    assert together.high - together.low > alone.high - alone.low


def test_a_model_that_was_cut_off_is_wrong_even_where_not_knowing_is_right(entry, ask):
    questions = ask([entry("VS/chart/0/0/0", "0", "1")])
    cut = prediction(
        question_id=questions[0].question_id, text="Let me", no_answer="no answer in 2 tokens"
    )
    (score,) = pipeline.score(TASK, questions, [cut], [])
    assert (score.points, score.answer) == (0.0, ())
    assert (
        TASK.measures["language_hallucination"]([ScoredQuestion(questions[0], score)]).n_unscored
        == 1
    )
