"""The studies as assets: which tables they read, and what they make of the settings."""

import dagster as dg
import pytest

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.suites.codis.assets import studies
from bench_assets.suites.codis.studies import output_variability
from bench_assets.suites.codis.task import TASK
from tests.fakes.home import Home
from tests.fakes.rows import prediction, question

QUESTIONS = [
    question(
        question_id=f"codis/000/{half}",
        answer=(gold,),
        options=("Up.", "Down."),
        category="Attributes",
        group_id="000",
    )
    for half, gold in ((1, "Up."), (2, "Down."))
]
PREDICTIONS = [prediction(question_id=q.question_id, text="It goes up.") for q in QUESTIONS]
WITHOUT = [
    prediction(question_id="codis/000/1", text="Up.", condition="no_context"),
    prediction(question_id="codis/000/2", text="Down.", condition="no_context"),
]


@pytest.fixture
def study(tmp_path):
    """Materialize one study of model m over the tables above."""

    def run(asset, **settings):
        home = Home(tmp_path, "codis", **settings)
        judged = pipeline.judge(TASK, QUESTIONS, PREDICTIONS, None)
        for key, rows, row_type, partition in (
            (["codis", "questions"], QUESTIONS, Question, ""),
            (["codis", "predictions"], PREDICTIONS, Prediction, "m"),
            (["codis", "judgements"], judged, Judgement, "m"),
            (["codis", "no_context", "predictions"], WITHOUT, Prediction, "m"),
        ):
            home.tables.write(key, rows, row_type, partition)
        result = home.materialize([*inputs(), asset], [asset], "m")
        return result.output_for_node("__".join(asset.key.path))

    return run


def inputs():
    """Stand-ins for the assets whose tables a study reads."""

    @dg.asset(key=["codis", "questions"])
    def questions() -> list[Question]:
        return []

    @dg.asset(key=["codis", "predictions"], partitions_def=MODELS)
    def predictions() -> list[Prediction]:
        return []

    @dg.asset(key=["codis", "no_context", "predictions"], partitions_def=MODELS)
    def without_context() -> list[Prediction]:
        return []

    @dg.asset(key=["codis", "judgements"], partitions_def=MODELS)
    def judgements() -> list[Judgement]:
        return []

    return [questions, predictions, without_context, judgements]


def test_output_variability_is_of_all_queries_and_each_category(study):
    rows = study(studies.output_variability)
    assert [(r.metric, r.condition, r.category, r.value, r.n_scored, r.n_failed) for r in rows] == [
        ("output_variability", "no_context", "all", 0.5, 2, 0),
        ("output_variability", "no_context", "Attributes", 0.5, 2, 0),
    ]


QUERIES = [
    question(question_id=f"codis/000/{n}", options=("Up.", "Down."), group_id="000") for n in (1, 2)
]
NAN = pytest.approx(float("nan"), nan_ok=True)


def predictions_of(*texts):
    """Responses to the first and the second query; None: the connection failed."""
    return [
        prediction(question_id=q.question_id, text=t or "", error="" if t else "timeout")
        for q, t in zip(QUERIES, texts, strict=False)
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
    variability = output_variability(
        QUERIES, predictions_of(*with_context), predictions_of(*without_context)
    )
    assert (variability.value, variability.n_scored, variability.n_unscored) == expected
