"""What was measured as curves, as trackers of experiments have it: one for each run and task."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isnan

from bench_assets.core.rows import Metric
from bench_assets.core.training_runs import step_of
from bench_assets.export.gathering import Evaluated

_UNFIT = re.compile(r"[^\w.\- :/]")  # in the name of a metric, as MLflow has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What was measured of one checkpoint, or of a model that is none."""

    model: str
    step: int  # 0 for what is no checkpoint
    milliseconds: int  # when the last reply came, since 1970
    values: Mapping[str, float]  # metric, or metric/category
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The checkpoints of one training run on one task, by step."""

    experiment: str  # task, condition and edition: what may be compared
    run: str
    tags: Mapping[str, str]
    points: tuple[Point, ...]


def curves(evaluations: Iterable[Evaluated]) -> list[Curve]:
    """Put checkpoints of a run together; what has no value yet has no point."""
    found: dict[tuple[str, str], tuple[dict[str, str], list[Point]]] = {}
    for one in evaluations:
        if not one.metrics:
            continue
        step = step_of(one.model)
        run, number = (step.run or one.model, step.step) if step else (one.model, 0)
        experiment = f"{one.name} ({one.exam.edition} edition)"
        tags = {
            "bench.task": one.task.name,
            "bench.condition": one.condition,
            "bench.edition": one.exam.edition,
            "bench.version": str(one.task.version),
            "bench.run": run,
        }
        found.setdefault((experiment, run), (tags, []))[1].append(_point(one, number))
    return [
        Curve(
            experiment=experiment,
            run=run,
            tags=tags,
            points=tuple(sorted(points, key=lambda point: (point.step, point.model))),
        )
        for (experiment, run), (tags, points) in found.items()
    ]


def _point(one: Evaluated, step: int) -> Point:
    values = {_name(row): row.value for row in one.metrics if not isnan(row.value)}
    if one.primary:
        values["n_failed"] = float(one.primary.n_failed)
    return Point(
        model=one.model,
        step=step,
        milliseconds=int(one.asked_at.timestamp() * 1000),
        values=values,
        signature=one.metrics[0].signature,
    )


def _name(row: Metric) -> str:
    name = row.metric if row.category == "all" else f"{row.metric}/{row.category}"
    return _UNFIT.sub("_", name)
