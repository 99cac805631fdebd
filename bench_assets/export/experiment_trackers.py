"""Training curves for MLflow and Weights & Biases.

MLflow gets an experiment per task, condition and edition; a second export adds new points only.
Weights & Biases runs are written offline, unless uploading is requested.
"""

import hashlib
import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from bench_assets.core.extras import require_extra
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Metric, read_shares
from bench_assets.core.schema.signature import Signature
from bench_assets.core.schema.training_runs import parse_step
from bench_assets.export.samples import blind_baselines
from bench_assets.workspace.inspect.table_collection import ModelResponses, TableCollection
from bench_resources.config.addresses import fill_keys, template_of

_INVALID_CHARACTERS = re.compile(r"[^\w.\- :/]")  # MLflow rejects them in names of metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """Metrics of one checkpoint, or of another model."""

    model: str
    step: int  # 0 if it is not a checkpoint
    milliseconds: int  # time of the last response, since 1970
    values: Mapping[str, float]  # by metric or metric/category; also n_failed, baselines, shares
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The checkpoints of one training run on one task by step, or another model."""

    experiment: str  # task, condition and edition: runs in it are comparable
    run: str
    tags: Mapping[str, str]
    points: tuple[CurvePoint, ...]


def curves(evaluations: Iterable[ModelResponses]) -> list[Curve]:
    """Curves of evaluations with metrics, one per experiment and training run or other model."""
    tags: dict[tuple[str, str], dict[str, str]] = {}
    points: dict[tuple[str, str], list[CurvePoint]] = defaultdict(list)
    for evaluation in evaluations:
        if not evaluation.metrics:
            continue
        step = parse_step(evaluation.model)
        run = step.run if step and step.run else evaluation.model
        key = f"{evaluation.name} ({evaluation.question_table.edition} edition)", run
        tags.setdefault(key, _tags(evaluation, run))
        points[key].append(_point(evaluation, step.step if step else 0))
    return [
        Curve(
            experiment=experiment,
            run=run,
            tags=tags[experiment, run],
            points=tuple(sorted(run_points, key=lambda point: (point.step, point.model))),
        )
        for (experiment, run), run_points in points.items()
    ]


def _tags(evaluation: ModelResponses, run: str) -> dict[str, str]:
    tags = {
        "bench.task": evaluation.task.name,
        "bench.condition": evaluation.condition,
        "bench.edition": evaluation.question_table.edition,
        "bench.version": str(evaluation.task.version),
        "bench.run": run,
    }
    if evaluation.task.lower_is_better:
        tags["bench.lower_is_better"] = ", ".join(sorted(evaluation.task.lower_is_better))
    return tags


def _point(evaluation: ModelResponses, step: int) -> CurvePoint:
    values = {_metric_name(row): row.value for row in evaluation.metrics if not isnan(row.value)}
    if evaluation.primary:
        values["n_failed"] = float(evaluation.primary.n_failed)
        baselines = blind_baselines(evaluation.primary)
        values |= {name: value for name, value in baselines.items() if value is not None}
        values |= read_shares(evaluation.primary)
    return CurvePoint(
        model=evaluation.model,
        step=step,
        milliseconds=int(evaluation.asked_at.timestamp() * 1000),
        values=values,
        signature=evaluation.metrics[0].signature,
    )


def _metric_name(row: Metric) -> str:
    name = row.metric if row.category == "all" else f"{row.metric}/{row.category}"
    return _INVALID_CHARACTERS.sub("_", name)


_MAX_PARAM_LENGTH = 500  # characters, in every version of MLflow
_BATCH_SIZE = 1000  # metrics that MLflow takes in one call


def write_mlflow(collection: TableCollection, out: Path, to: str) -> list[str]:
    """Log all curves to MLflow, by default into a SQLite file.

    Returns the tracking URI; nothing without curves.

    Raises:
        MissingExtraError: If MLflow is not installed.
        SettingsError: If a key of the URI is missing, or MLflow rejects the upload.
    """
    require_extra("bench export mlflow", "mlflow")
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    all_curves = curves(collection.evaluations())
    if not all_curves:
        return []
    if not to:
        out.mkdir(parents=True, exist_ok=True)
        to = f"sqlite:///{(out / 'mlflow.db').absolute()}"
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.WARNING)
    try:
        client = MlflowClient(tracking_uri=fill_keys(to))
        for curve in all_curves:
            _log_curve(client, curve)
    except MlflowException as error:
        raise SettingsError(f"{template_of(to)}: MLflow rejected the upload: {error}") from error
    return [template_of(to)]


def _log_curve(client: Any, curve: Curve) -> None:  # noqa: ANN401
    run_id = _find_or_create_run(client, curve)
    for point in curve.points:
        _log_point(client, run_id, point)
    client.set_terminated(run_id)


def _find_or_create_run(client: Any, curve: Curve) -> str:  # noqa: ANN401
    from mlflow.entities import Param

    title = f"bench-assets/{curve.experiment}"
    existing = client.get_experiment_by_name(title)
    experiment = existing.experiment_id if existing else client.create_experiment(title)
    for run in client.search_runs([experiment]):
        if run.data.tags.get("bench.run") == curve.run:
            return str(run.info.run_id)
    start_time = curve.points[0].milliseconds
    created = client.create_run(experiment, start_time, dict(curve.tags), run_name=curve.run)
    run_id = str(created.info.run_id)
    client.log_batch(run_id, params=[Param(name, value) for name, value in _params(curve).items()])
    return run_id


def _params(curve: Curve) -> dict[str, str]:
    """Params of a run: its tags, and the parts of the signature that all checkpoints share.

    MLflow params cannot change, so the signature of each checkpoint is a tag.
    """
    signatures = [Signature.parse(point.signature) for point in curve.points]
    shared = {
        name: value
        for name, value in signatures[0].parts.items()
        if name != "model" and all(signature.parts.get(name) == value for signature in signatures)
    }
    tags = {name.removeprefix("bench."): value for name, value in curve.tags.items()}
    return {name: value[:_MAX_PARAM_LENGTH] for name, value in {**shared, **tags}.items() if value}


def _log_point(client: Any, run_id: str, point: CurvePoint) -> None:  # noqa: ANN401
    """Log the metrics of a checkpoint, unless an earlier export did so."""
    from mlflow.entities import Metric, RunTag

    tag = RunTag(f"bench.signature.{point.step}", f"{point.milliseconds} {point.signature}")
    if client.get_run(run_id).data.tags.get(tag.key) == tag.value:
        return
    metrics = [
        Metric(key=name, value=value, timestamp=point.milliseconds, step=point.step)
        for name, value in point.values.items()
    ]
    for start in range(0, len(metrics), _BATCH_SIZE):
        client.log_batch(run_id, metrics=metrics[start : start + _BATCH_SIZE])
    client.log_batch(run_id, tags=[tag])  # last: an interrupted export logs the point again


MODES = ("offline", "online")

_PROJECT = "bench-assets"


def write_wandb(collection: TableCollection, out: Path, mode: str) -> list[Path]:
    """Log all curves as offline runs for ``wandb sync``, or to the server; returns their folders.

    Raises:
        MissingExtraError: If Weights & Biases is not installed.
        SettingsError: If ``mode`` is none of ``MODES``, or the upload is rejected.
    """
    require_extra("bench export wandb", "wandb")
    import wandb

    if mode not in MODES:
        raise SettingsError(f"--to {mode}: expected {' or '.join(MODES)}")
    out.mkdir(parents=True, exist_ok=True)
    try:
        return [_write_wandb_run(curve, out, mode) for curve in curves(collection.evaluations())]
    except wandb.Error as error:
        raise SettingsError(f"Weights & Biases rejected the upload: {error}") from error


def _write_wandb_run(curve: Curve, out: Path, mode: str) -> Path:
    """Log one run under an id that is stable over exports; returns its folder."""
    import wandb

    run = wandb.init(
        project=_PROJECT,
        id=hashlib.sha256(f"{curve.experiment}\n{curve.run}".encode()).hexdigest()[:16],
        name=curve.run,
        group=curve.experiment,
        config=dict(curve.tags),
        dir=out,
        mode="online" if mode == "online" else "offline",
        resume="allow" if mode == "online" else None,
        settings=wandb.Settings(
            console="off", silent=True, disable_git=True, disable_code=True, x_disable_stats=True
        ),
    )
    for point in curve.points:
        run.log(dict(point.values), step=point.step)
        run.summary[f"signature.{point.step}"] = point.signature
    folder = Path(run.dir).parent
    run.finish()
    return folder
