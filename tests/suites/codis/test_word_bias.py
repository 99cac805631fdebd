import pytest

from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.codis.settings import CodisSettings
from bench_assets.suites.codis.studies import word_bias
from tests.rows import answered, prediction, question

FIT = ("appropriate", "not appropriate")


def counts(responses, pair):
    """Expected, said and asked, for each word of a pair."""
    rows = word_bias([answered(said, answer=(gold,)) for gold, said in responses], [pair])
    return {row.word: (row.in_ground_truth, row.in_predictions, row.n_queries) for row in rows}


@pytest.mark.parametrize(
    ("responses", "pair", "expected"),
    [
        pytest.param(
            [("Up.", "Up."), ("Down.", "It goes up."), ("Up.", "left")],
            ("up", "down"),
            {"up": (2, 2, 3), "down": (1, 0, 3)},
            id="a model that prefers up",
        ),
        pytest.param(
            [("Left.", "Up."), ("Up.", "up")],
            ("up", "down"),
            {"up": (1, 1, 1), "down": (0, 0, 1)},
            id="only queries whose ground truth has one of the words",
        ),
        pytest.param(
            [("Upstairs.", "Up."), ("Up.", "upwards")],
            ("up", "down"),
            {"up": (1, 0, 1), "down": (0, 0, 1)},
            id="whole words",
        ),
        pytest.param(
            [("Not appropriate.", "It's appropriate."), ("Appropriate.", "It is not appropriate.")],
            FIT,
            {"appropriate": (1, 1, 2), "not appropriate": (1, 1, 2)},
            id="not appropriate does not say appropriate",
        ),
        pytest.param(
            [("In the morning.", "It was afternoon, then.\n\nMorning")],
            ("morning", "afternoon"),
            {"morning": (1, 1, 1), "afternoon": (0, 0, 1)},
            id="the reasoning does not count",
        ),
        pytest.param(
            [("Up.", "Up and down.")],
            ("up", "down"),
            {"up": (1, 1, 1), "down": (0, 1, 1)},
            id="an answer with both words counts for both",
        ),
    ],
)
def test_words_are_counted(responses, pair, expected):
    assert counts(responses, pair) == expected


def test_a_query_without_a_response_is_left_out():
    asked = question(answer=("Up.",))
    silent = AnsweredQuestion(asked, prediction(text="", error="timeout"))
    assert word_bias([silent], [("up", "down")]) == []
    (up, _) = word_bias([silent, answered("up", answer=("Up.",))], [("up", "down")])
    assert (up.n_queries, up.in_ground_truth, up.in_predictions) == (1, 1, 1)


def test_the_default_words_are_those_of_table_6():
    assert CodisSettings().word_pairs == (("up", "down"), ("morning", "afternoon"), FIT)
