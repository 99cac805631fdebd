from dataclasses import replace

import pytest

from bench_assets.export.experiment_trackers import curves
from bench_assets.export.formats import FORMATS
from bench_resources.tables.parquet import TableFiles
from tests.export.measured_home import export_job, measure, questions, write_export

EXPERIMENT = "quiz (published edition)"


@pytest.fixture
def home_of_run(home):
    """A home with the checkpoints 150, 500 and 2300 of a run, and the model "random"."""
    tables = TableFiles(folder=str(home / "tables"))
    for model in ("run/step-2300", "run/step-0500", "random"):
        measure(tables, questions("published"), model)
    return home


def test_checkpoints_of_a_run_are_one_curve_by_step(home_of_run):
    evaluations = export_job(home_of_run, home_of_run / "out").collection.evaluations()
    of_random, of_run = curves(evaluations)
    assert (of_random.experiment, of_random.run) == (EXPERIMENT, "random")
    assert [point.step for point in of_random.points] == [0]
    assert (of_run.experiment, of_run.run) == (EXPERIMENT, "run")
    assert [point.step for point in of_run.points] == [150, 500, 2300]
    blind = {"constant": 1.0, "shuffled": 0.25}
    assert of_run.points[0].values == {"accuracy": 1 / 3, "n_failed": 1.0, **blind}


def test_a_curve_names_the_metrics_of_which_lower_is_better(home_of_run):
    evaluation, *_ = export_job(home_of_run, home_of_run / "out").collection.evaluations()
    task = replace(evaluation.task, lower_is_better=frozenset({"wrong", "refused"}))
    of_errors = replace(evaluation, question_table=replace(evaluation.question_table, task=task))
    (with_errors,) = curves([of_errors])
    assert with_errors.tags["bench.lower_is_better"] == "refused, wrong"
    (without_errors,) = curves([evaluation])
    assert "bench.lower_is_better" not in without_errors.tags


@pytest.mark.long  # MLflow creates a database: 10 s
def test_mlflow_has_the_curve_once_after_two_exports(home_of_run):
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    FORMATS["mlflow"](export_job(home_of_run, home_of_run / "out"))
    (tracking_uri,) = FORMATS["mlflow"](export_job(home_of_run, home_of_run / "out"))

    client = mlflow.MlflowClient(tracking_uri=tracking_uri)
    experiment = client.get_experiment_by_name(f"bench-assets/{EXPERIMENT}")
    runs = {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}
    assert set(runs) == {"run", "random"}

    history = client.get_metric_history(runs["run"].info.run_id, "accuracy")
    assert sorted(point.step for point in history) == [150, 500, 2300]
    assert [point.value for point in history] == pytest.approx([1 / 3] * 3)

    data = runs["run"].data
    assert data.tags["bench.edition"] == "published"
    assert data.params["edition"] == "published"
    assert data.params["condition"] == "main"
    assert data.params["judge"] == "none"
    assert "model" not in data.params


@pytest.mark.long  # its service takes seconds to start
def test_wandb_keeps_its_runs_offline(home_of_run):
    pytest.importorskip("wandb", reason="wandb is not installed")
    folders = write_export("wandb", export_job(home_of_run, home_of_run / "out"))
    assert len(folders) == 2
    for folder in folders:
        assert folder.name.startswith("offline-run-")
        (file,) = folder.glob("*.wandb")
        assert b"accuracy" in file.read_bytes()
