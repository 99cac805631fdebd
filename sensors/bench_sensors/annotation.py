"""Sensor on annotation answers: rebuilds the tables that depend on them.

The sensor keeps no state: it compares the answers that count with the stored tables, and requests
a run only if they differ.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

import dagster as dg

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import (
    AnnotationBackend,
    AnnotationTerms,
    Answer,
    SuiteAnnotationTask,
    Unit,
    format_timestamp,
)
from bench_assets.asset_factory.annotation_inputs import answers_key
from bench_assets.asset_factory.suite_assets import range_tags, raw_data_parts, select_group
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.suite import Suite
from bench_assets.features import open_annotation_backend
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.watched import AnnotationTaskSettings
from bench_resources.tables.parquet import TableFiles
from bench_sensors.changes import PER_MODEL

_FindRebuilt: TypeAlias = Callable[[Sequence[SuiteAnnotationTask]], list[dg.AssetKey]]

_DIGITS = 16  # hexadecimal digits of a digest, in run keys
_ON_REQUEST = dg.AssetSelection.tag("bench/when", "asked")


class _ChangedTask(NamedTuple):
    """A task whose answers differ from its table."""

    task: SuiteAnnotationTask
    key_part: str  # part of the run key: task, digest of the answers that count, time of the table


def annotation_sensors(settings: Settings, suites: Sequence[Suite]) -> list[dg.SensorDefinition]:
    """Build the sensor on new answers; none if no annotation task is configured."""
    task_names = settings.annotation.tasks.keys()
    tasks = [task for suite in suites for task in suite.active_annotation_tasks(task_names)]
    if not tasks:
        return []

    @dg.sensor(
        name="annotation",
        target=_rebuilt_assets(tasks),
        minimum_interval_seconds=settings.annotation.every,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=(
            "Rebuilds question tables when there are new answers to a task of [annotation] in "
            "bench.toml; evaluates no model."
        ),
    )
    def annotation(
        context: dg.SensorEvaluationContext,
        settings: dg.ResourceParam[Settings],
        tables: TableFiles,
    ) -> dg.SensorResult:
        repository = context.repository_def
        assert repository is not None  # every sensor in Definitions has one

        def find_rebuilt(changed_tasks: Sequence[SuiteAnnotationTask]) -> list[dg.AssetKey]:
            graph = repository.asset_graph
            rebuilt = _rebuilt_assets(changed_tasks)
            upstream = (rebuilt.upstream() & _suite_assets(changed_tasks)) - rebuilt - PER_MODEL
            missing = [key for key in upstream.resolve(graph) if not tables.known(key.path)]
            if missing:
                inputs = dg.AssetSelection.assets(*missing).required_multi_asset_neighbors()
                rebuilt |= inputs
            return sorted(rebuilt.resolve(graph))

        def find_tags(keys: Sequence[dg.AssetKey]) -> Mapping[str, str]:
            return range_tags(raw_data_parts(repository.asset_graph, keys))

        return request_rebuild(context.instance, settings, tables, tasks, find_rebuilt, find_tags)

    return [annotation]


def request_rebuild(
    instance: dg.DagsterInstance,
    settings: Settings,
    tables: TableFiles,
    tasks: Sequence[SuiteAnnotationTask],
    find_rebuilt: _FindRebuilt,
    find_tags: Callable[[Sequence[dg.AssetKey]], Mapping[str, str]] = lambda _: {},
) -> dg.SensorResult:
    """Request one run over all tasks whose answers differ from their tables.

    If a backend is unavailable, the tick reports it, and the next tick tries again.
    ``find_rebuilt`` returns the assets of the run for changed tasks, and ``find_tags`` its tags.
    """
    active = [task for task in tasks if task.task.name in settings.annotation.tasks]
    if not active:
        return dg.SensorResult(skip_reason=f"no task in [annotation] of {settings.file}")
    try:
        backend = open_annotation_backend(settings)
    except BenchError as error:
        return dg.SensorResult(skip_reason=str(error))
    changed, problems = _changed_tasks(instance, backend, tables, active, settings.annotation.tasks)
    if not changed:
        return dg.SensorResult(skip_reason=problems or "nothing new")
    keys = find_rebuilt([change.task for change in changed])
    tags = dict(find_tags(keys))
    if problems:
        tags["bench/problems"] = problems
    request = dg.RunRequest(
        run_key="annotation/" + "+".join(change.key_part for change in changed),
        asset_selection=keys,
        tags=tags,
    )
    return dg.SensorResult(run_requests=[request])


def _changed_tasks(
    instance: dg.DagsterInstance,
    backend: AnnotationBackend,
    tables: TableFiles,
    active: Sequence[SuiteAnnotationTask],
    task_settings: Mapping[str, AnnotationTaskSettings],
) -> tuple[list[_ChangedTask], str]:
    """The tasks whose answers differ from their tables; a message on those with an error."""
    changed: list[_ChangedTask] = []
    problems: list[str] = []
    for task in active:
        try:
            terms = task_settings[task.task.name].terms
            key_part = _change_key(instance, backend, tables, task, terms)
        except BenchError as error:
            problems.append(f"{task.task.name}: {error}")
            continue
        if key_part:
            changed.append(_ChangedTask(task=task, key_part=key_part))
    return changed, "; ".join(problems)


def _change_key(
    instance: dg.DagsterInstance,
    backend: AnnotationBackend,
    tables: TableFiles,
    task: SuiteAnnotationTask,
    terms: AnnotationTerms,
) -> str:
    """Part of the run key for answers that differ from their table, or a passed deadline.

    "" if the answers are equal and no deadline has passed, or the task has no tables yet.
    """
    units, answers = task.table("units").split("/"), task.table("answers").split("/")
    if not tables.exists(units) or not tables.exists(answers):
        return ""
    unit_rows = tables.read(units, Unit)
    counted = resolve_answers(task.task, unit_rows, backend.answers(task.task), terms).answers
    stored = [answer for answer in tables.read(answers, Answer) if not answer.complaint]
    materialization = instance.get_latest_materialization_event(answers_key(task))
    timestamp = materialization.timestamp if materialization else 0
    if digest(counted) == digest(stored) and not _has_expired(timestamp, terms.until):
        return ""
    # Same answers and same table give the same run key: one run, even if it is slow or fails.
    return f"{task.task.name}/{digest(counted)[:_DIGITS]}@{timestamp}"


def _has_expired(timestamp: float, until: str) -> bool:
    """Whether the deadline has passed since a table was made: its open units are expired then."""
    made_at, now = datetime.fromtimestamp(timestamp, UTC), datetime.now(UTC)
    return bool(until) and format_timestamp(made_at) <= until < format_timestamp(now)


def _rebuilt_assets(tasks: Sequence[SuiteAnnotationTask]) -> dg.AssetSelection:
    """Tables of the tasks, and downstream assets but those of models or made on request."""
    keys = [task.table(name).split("/") for task in tasks for name in ("units", "answers")]
    suite_assets = _suite_assets(tasks)
    return (dg.AssetSelection.assets(*keys).downstream() & suite_assets) - PER_MODEL - _ON_REQUEST


def _suite_assets(tasks: Sequence[SuiteAnnotationTask]) -> dg.AssetSelection:
    """Assets of the suites of the tasks, and of their ablations."""
    suites = sorted({task.suite for task in tasks})
    return select_group(*suites, *(f"{suite}_ablations" for suite in suites))
