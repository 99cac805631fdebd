import pytest

from bench_assets.suites.codis.studies import output_variability
from tests.rows import prediction, question

QUESTIONS = [
    question(question_id=f"codis/000/{n}", options=("Up.", "Down."), group_id="000") for n in (1, 2)
]
NAN = pytest.approx(float("nan"), nan_ok=True)


def said(*texts):
    """Responses to the first and the second query; None: the connection failed."""
    return [
        prediction(question_id=q.question_id, text=t or "", error="" if t else "timeout")
        for q, t in zip(QUESTIONS, texts, strict=False)
    ]


@pytest.mark.parametrize(
    ("with_context", "without_context", "expected"),
    [
        pytest.param(("Up.", "Down."), ("Up.", "Up."), (0.5, 2, 0), id="one of two changes"),
        pytest.param(
            ("It moves up.", "Down"), ("Up.", "So: down."), (0, 2, 0), id="other words, same answer"
        ),
        pytest.param(
            ("Up is out of the question.\n\nDown.", "Up."),
            ("Up.", "Up."),
            (0.5, 2, 0),
            id="answers are compared, not reasoning",
        ),
        pytest.param(("Up.", None), ("Down.", "Up."), (1, 1, 1), id="a failed query is unscored"),
        pytest.param(("Up.",), ("Up.", "Up."), (0, 1, 1), id="a missing query is unscored"),
        pytest.param((), (), (NAN, 0, 0), id="nothing has no mean"),
    ],
)
def test_share_of_answers_that_change(with_context, without_context, expected):
    found = output_variability(QUESTIONS, said(*with_context), said(*without_context))
    assert (found.value, found.n_scored, found.n_unscored) == expected


def test_only_the_given_queries_count():
    found = output_variability(QUESTIONS[:1], said("Up.", "Up."), said("Down.", "Up."))
    assert (found.value, found.n_scored) == (1.0, 1)
