import dagster as dg
import pytest

from bench_assets.evaluation import pipeline
from bench_assets.suites.journeybench.captioning.assets import meteor_metric
from bench_assets.suites.journeybench.captioning.task import TASK
from tests.fakes.rows import prediction, question


@pytest.fixture
def meteor_row(monkeypatch, tmp_path):
    """METEOR of a scored caption, and of a question of which both draws failed; without Java."""
    monkeypatch.setenv("PATH", str(tmp_path))
    questions = [question(question_id=name, answer=("A cat.",)) for name in ("q/1", "q/2")]
    predictions = [
        prediction(question_id="q/1", text="A cat.", decoding="m|t=1"),
        prediction(question_id="q/2", error="timeout"),
        prediction(question_id="q/2", sample=1, error="timeout"),
    ]
    scores = pipeline.score(TASK, questions, predictions, [])
    context = dg.build_asset_context(partition_key="m")
    output = meteor_metric(context, questions, predictions, scores)
    assert isinstance(output, dg.Output)
    (row,) = output.value
    return row


def test_a_question_with_two_failed_draws_has_failed_once(meteor_row):
    assert meteor_row.n_failed == 1


def test_the_signature_names_the_draws_and_the_absence_of_meteor(meteor_row):
    assert "draws:2|model:m|t=1|scorer:coco|meteor:absent (" in meteor_row.signature
