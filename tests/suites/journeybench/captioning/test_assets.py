import dagster as dg

from bench_assets.evaluation import pipeline
from bench_assets.suites.journeybench.captioning.assets import meteor_metric
from bench_assets.suites.journeybench.captioning.task import TASK
from tests.fakes.rows import prediction, question


def test_a_question_of_which_two_draws_failed_counts_once_as_failed(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))  # without Java, which takes seconds
    questions = [question(question_id=name, answer=("A cat.",)) for name in ("q/1", "q/2")]
    predictions = [
        prediction(question_id="q/1", text="A cat."),
        prediction(question_id="q/2", error="timeout"),
        prediction(question_id="q/2", sample=1, error="timeout"),
    ]
    scores = pipeline.score(TASK, questions, predictions, [])
    context = dg.build_asset_context(partition_key="m")
    output = meteor_metric(context, questions, predictions, scores)
    assert isinstance(output, dg.Output)
    (row,) = output.value
    assert row.n_failed == 1
