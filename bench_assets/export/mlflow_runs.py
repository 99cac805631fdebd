"""Curves as runs of MLflow: an experiment for each task, condition and edition.

What is there already is not written again: a second export adds what was measured since.
"""

import logging
from pathlib import Path
from typing import Any

from bench_assets.core.errors import SettingsError
from bench_assets.core.secrets import without_named
from bench_assets.export.curves import Curve, Point, curves
from bench_assets.export.gathering import Gathered

_AT_ONCE = 1000  # metrics that MLflow takes in one call


def write_mlflow(gathered: Gathered, out: Path, to: str) -> list[str]:
    """Write all curves to where MLflow tracks, by default a file of SQLite; say where that is.

    Raises:
        SettingsError: If MLflow is not installed, or does not take it; says why.
    """
    try:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
    except ImportError as why:
        wanted = "pip install 'bench-assets[mlflow]'"
        raise SettingsError(f"MLflow is not installed: {wanted}") from why
    found = curves(gathered.evaluations())
    if not found:
        return []
    if not to:
        out.mkdir(parents=True, exist_ok=True)
        to = f"sqlite:///{(out / 'mlflow.db').absolute()}"
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.WARNING)
    try:
        client = MlflowClient(tracking_uri=to)
        for curve in found:
            _write(client, curve)
    except MlflowException as why:
        raise SettingsError(without_named(f"{to}: MLflow does not take it: {why}")) from why
    return [without_named(to)]


def _write(client: Any, curve: Curve) -> None:  # noqa: ANN401
    run = _run(client, curve)
    for point in curve.points:
        _write_point(client, run, point)
    client.set_terminated(run)


def _run(client: Any, curve: Curve) -> str:  # noqa: ANN401
    """Find the run of a curve, or begin it."""
    name = f"bench-assets/{curve.experiment}"
    there = client.get_experiment_by_name(name)
    experiment = there.experiment_id if there else client.create_experiment(name)
    for run in client.search_runs([experiment]):
        if run.data.tags.get("bench.run") == curve.run:
            return str(run.info.run_id)
    at = curve.points[0].milliseconds
    begun = client.create_run(experiment, at, dict(curve.tags), run_name=curve.run)
    return str(begun.info.run_id)


def _write_point(client: Any, run: str, point: Point) -> None:  # noqa: ANN401
    from mlflow.entities import Metric, RunTag

    tag = f"bench.signature.{point.step}"
    if client.get_run(run).data.tags.get(tag) == f"{point.milliseconds} {point.signature}":
        return
    rows = [
        Metric(name, value, point.milliseconds, point.step) for name, value in point.values.items()
    ]
    for start in range(0, len(rows), _AT_ONCE):
        client.log_batch(run, metrics=rows[start : start + _AT_ONCE])
    client.log_batch(run, tags=[RunTag(tag, f"{point.milliseconds} {point.signature}")])
