from dataclasses import replace

import dagster as dg
import pytest

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.suites.codis.assets import studies
from bench_assets.suites.codis.studies import measure_variability
from tests.fakes.home import Home
from tests.fakes.rows import prediction, question

QUERIES = [
    question(
        question_id=f"codis/000/{n}",
        options=("Up.", "Down."),
        category="Attributes",
        group_id="000",
    )
    for n in (1, 2)
]
NAN = pytest.approx(float("nan"), nan_ok=True)


def predictions_of(*texts):
    """Responses to the first and the second query; None: the connection failed."""
    return [
        prediction(question_id=query.question_id, text=text or "", error="" if text else "timeout")
        for query, text in zip(QUERIES, texts, strict=False)
    ]


def measure_study(home, with_context, without_context):
    """Rows of the study over these predictions, by category."""
    home.tables.write(["codis", "questions"], QUERIES, Question, "")
    home.tables.write(["codis", "predictions"], with_context, Prediction, "m")
    home.tables.write(["codis", "no_context", "predictions"], without_context, Prediction, "m")
    specs = [
        dg.AssetSpec(["codis", "questions"]),
        dg.AssetSpec(["codis", "predictions"], partitions_def=MODELS),
        dg.AssetSpec(["codis", "no_context", "predictions"], partitions_def=MODELS),
    ]
    study = studies.output_variability
    result = home.materialize([*specs, study], [study], "m")
    return {row.category: row for row in result.output_for_node("__".join(study.key.path))}


def test_output_variability_is_of_all_queries_and_each_category(tmp_path):
    with_context = predictions_of("It goes up.", "It goes up.")
    rows = measure_study(Home(tmp_path, "codis"), with_context, predictions_of("Up.", "Down."))
    assert {category: row.value for category, row in rows.items()} == {
        "all": 0.5,
        "Attributes": 0.5,
    }
    assert rows["all"].metric == "output_variability"
    assert rows["all"].condition == "no_context"


def test_a_query_has_failed_if_one_of_its_samples_has(tmp_path):
    two_samples = [
        replace(row, sample=sample) for sample in (0, 1) for row in predictions_of("Up.", "Up.")
    ]
    failed = [*two_samples[:-1], replace(two_samples[-1], error="timeout")]
    rows = measure_study(Home(tmp_path, "codis"), two_samples, failed)
    assert (rows["all"].n_scored, rows["all"].n_unscored, rows["all"].n_failed) == (3, 1, 1)


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
def test_output_variability_is_the_share_of_answers_that_change(
    with_context, without_context, expected
):
    variability = measure_variability(
        QUERIES, predictions_of(*with_context), predictions_of(*without_context)
    )
    assert (variability.value, variability.n_scored, variability.n_unscored) == expected
