"""Curves of MLflow and Weights & Biases, read back where these are installed."""

from dataclasses import replace

import pytest

from bench_assets.export.experiment_trackers import curves
from bench_assets.export.formats import FORMATS
from bench_resources.tables.parquet import TableFiles
from tests.export.measured_home import leaving, measure, questions, write

EXPERIMENT = "quiz (published edition)"


@pytest.fixture
def run(home):
    """A home with three checkpoints of a run, and a model that is none."""
    tables = TableFiles(folder=str(home / "tables"))
    for model in ("run/step-2300", "run/step-0500", "random"):
        measure(tables, questions("published"), model)
    return home


def test_checkpoints_of_a_run_are_one_curve_by_step(run):
    found = curves(leaving(run, run / "out").collection.evaluations())
    assert [(one.experiment, one.run, [p.step for p in one.points]) for one in found] == [
        (EXPERIMENT, "random", [0]),
        (EXPERIMENT, "run", [150, 500, 2300]),
    ]
    blind = {"constant": 1.0, "shuffled": 0.25}
    assert found[1].points[0].values == {"accuracy": 1 / 3, "n_failed": 1.0, **blind}


def test_a_curve_names_the_metrics_of_which_lower_is_better(run):
    (one, *_) = leaving(run, run / "out").collection.evaluations()
    task = replace(one.task, lower_is_better=frozenset({"wrong", "refused"}))
    (with_errors,) = curves([replace(one, exam=replace(one.exam, task=task))])
    assert with_errors.tags["bench.lower_is_better"] == "refused, wrong"
    (without,) = curves([one])
    assert "bench.lower_is_better" not in without.tags


@pytest.mark.long  # MLflow makes a data base: 10 s
def test_mlflow_has_the_curve_once_however_often_it_is_exported(run):
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    for _ in range(2):
        (to,) = FORMATS["mlflow"](leaving(run, run / "out"))
    client = mlflow.MlflowClient(tracking_uri=to)
    experiment = client.get_experiment_by_name(f"bench-assets/{EXPERIMENT}")
    runs = {one.info.run_name: one for one in client.search_runs([experiment.experiment_id])}
    assert set(runs) == {"run", "random"}
    history = client.get_metric_history(runs["run"].info.run_id, "accuracy")
    assert sorted((one.step, one.value) for one in history) == [
        (step, pytest.approx(1 / 3)) for step in (150, 500, 2300)
    ]
    assert runs["run"].data.tags["bench.edition"] == "published"
    params = runs["run"].data.params
    assert (params["edition"], params["condition"], params["judge"]) == (
        "published",
        "main",
        "none",
    )
    assert "model" not in params


@pytest.mark.long  # its service takes seconds to start
def test_wandb_keeps_its_runs_offline(run):
    pytest.importorskip("wandb", reason="wandb is not installed")
    folders = write("wandb", leaving(run, run / "out"))
    assert len(folders) == 2
    for folder in folders:
        assert folder.name.startswith("offline-run-")
        (file,) = folder.glob("*.wandb")
        assert b"accuracy" in file.read_bytes()
