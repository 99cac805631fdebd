"""Evaluates every checkpoint that appears in the watched folders and hub repositories.

A checkpoint is requested until it has its number, see ``attempts``. Run keys,
``<checkpoint>@<content>/<suite>+<suite>/<attempt>``, and leases prevent duplicate runs. The cursor
remembers digests of files, and attempts whose runs were deleted.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import dagster as dg

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_assets.evaluation.suite import Suite
from bench_resources.checkpoints import hub_revisions
from bench_resources.checkpoints import watched_folders as checkpoint_folders
from bench_resources.config.bench_toml import Settings
from bench_resources.config.stores import open_leases
from bench_resources.models.registry.named_models import base_of_checkpoints
from bench_sensors.evaluations import (
    CLAIM_SECONDS,
    MissingNumber,
    Tables,
    configured_suites,
    plan_evaluations,
    requested_attempts,
    run_requests,
    suites_lacking_questions,
    tables_of,
)

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_REQUESTS_A_TICK = 100  # Dagster queries run keys one by one, and starts a few runs per second
_SHOWN = 20  # checkpoints listed in a skip reason, of each kind
_SENSORS = ("checkpoint_folders", "hub_revisions")


def checkpoint_sensors(jobs: Sequence[Any], suites: Sequence[Suite]) -> list[dg.SensorDefinition]:
    """Build the sensors that watch folders and hub repositories.

    Args:
        jobs: ``quick_evaluation`` and ``evaluate_checkpoint``.
        suites: Suites that checkpoints may be evaluated on.
    """

    @dg.sensor(
        name="checkpoint_folders",
        jobs=jobs,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Evaluates each finished checkpoint in the folders of [checkpoints].",
    )
    def folders(
        context: dg.SensorEvaluationContext, settings: dg.ResourceParam[Settings]
    ) -> dg.SensorResult:
        tables = _tables(context, suites)
        return watch_folders(context.instance, settings, tables, context.cursor, time.time())

    @dg.sensor(
        name="hub_revisions",
        jobs=jobs,
        minimum_interval_seconds=600,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Evaluates each branch and tag of the hub repositories in [checkpoints].",
    )
    def revisions(
        context: dg.SensorEvaluationContext, settings: dg.ResourceParam[Settings]
    ) -> dg.SensorResult:
        from huggingface_hub import HfApi

        tables, now = _tables(context, suites), time.time()
        return watch_hub(context.instance, settings, tables, context.cursor, HfApi(), now)

    return [folders, revisions]


def watch_folders(
    instance: dg.DagsterInstance, settings: Settings, tables: Tables, cursor: str | None, now: float
) -> dg.SensorResult:
    """Request evaluations of checkpoints in watched folders; retire deleted ones.

    A retired checkpoint has no partition any more; its tables stay. Only a checkpoint that is
    certainly deleted retires: see ``CheckpointSurvey.is_deleted``.

    Args:
        instance: Dagster instance with partitions and runs.
        settings: Settings with the watched folders.
        tables: Tables of each suite that evaluates models.
        cursor: Cursor of the last tick.
        now: s since the epoch.

    Raises:
        SettingsError: If [checkpoints] names an unknown suite.
    """
    if not settings.checkpoints.folders:
        return dg.SensorResult(skip_reason=f"no folders in [checkpoints] of {settings.file}")
    state = _read_cursor(cursor)
    survey = _survey_folders(settings, state.get("digests", {}), now)
    known = _known(instance, settings, checkpoint_folders.KEY.fullmatch)
    names = dict(known)
    for checkpoint in survey.finished:
        names.setdefault(checkpoint.content, checkpoint.key)
    alive = {names[checkpoint.content] for checkpoint in survey.finished}
    retired = [key for key in known.values() if key not in alive and survey.is_deleted(key)]
    return _result(
        instance,
        settings,
        tables,
        _Checkpoints(sorted(alive), known, retired, survey.unfinished),
        {**state, "digests": survey.digests},
        now,
    )


def describe_missing(
    instance: dg.DagsterInstance, settings: Settings, suites: Sequence[Suite]
) -> list[str]:
    """Describe the checkpoints without a number, one line each, and those not evaluated at all."""
    watched, now = settings.checkpoints, time.time()
    if not (watched.folders or watched.repositories):
        return []
    tables, state = tables_of(suites), _read_cursors(instance)
    unfinished: Mapping[str, str] = {}
    try:
        chosen = configured_suites(settings, tables)
        lacking = suites_lacking_questions(instance, settings, chosen, tables)
        missing = missing_numbers(instance, settings, suites, now)
        if watched.folders:
            with suppress(ModelError):  # of the model that checkpoints are like: a warning names it
                unfinished = _survey_folders(settings, state.get("digests", {}), now).unfinished
    except SettingsError as error:  # then no checkpoint is evaluated
        return [str(error)]
    return [
        *([f"no checkpoint is evaluated: {_lacking(settings, lacking)}"] if lacking else []),
        *(number.describe(instance) for number in missing),
        *(f"not evaluated: {name}: {reason}" for name, reason in unfinished.items()),
    ]


def _survey_folders(
    settings: Settings, remembered: Mapping[str, str], now: float
) -> checkpoint_folders.CheckpointSurvey:
    watched = settings.checkpoints
    return checkpoint_folders.survey_folders(
        [settings.resolve(folder) for folder in watched.folders],
        now=now,
        settle_seconds=watched.settle_seconds,
        remembered=remembered,
        base=base_of_checkpoints(settings),
    )


def watch_hub(
    instance: dg.DagsterInstance,
    settings: Settings,
    tables: Tables,
    cursor: str | None,
    api: "HfApi",
    now: float,
) -> dg.SensorResult:
    """Request evaluations of watched repositories' revisions; retire deleted ones.

    A revision retires if its branch or tag was deleted and no other points to its commit. If its
    branch moved on, it stays: the commit can still be loaded, and is a point of the curve. Nothing
    retires if the hub does not list the repository or cannot be reached.

    Args:
        instance: Dagster instance with partitions and runs.
        settings: Settings with the watched repositories.
        tables: Tables of each suite that evaluates models.
        cursor: Cursor of the last tick.
        api: Client of the hub.
        now: s since the epoch.

    Raises:
        SettingsError: If [checkpoints] names an unknown suite.
    """
    repositories = settings.checkpoints.repositories
    if not repositories:
        return dg.SensorResult(skip_reason=f"no repositories in [checkpoints] of {settings.file}")
    known = _known(instance, settings, hub_revisions.KEY.fullmatch)
    survey = hub_revisions.hub_survey(repositories, known.keys(), api)
    alive = sorted({known.get(checkpoint.commit, checkpoint.key) for checkpoint in survey.finished})
    retired = [key for key in known.values() if key not in alive and survey.lost(key)]
    checkpoints = _Checkpoints(alive, known, retired, survey.unfinished)
    return _result(instance, settings, tables, checkpoints, _read_cursor(cursor), now)


def missing_numbers(
    instance: dg.DagsterInstance, settings: Settings, suites: Sequence[Suite], now: float
) -> list[MissingNumber]:
    """Find the known checkpoints without a number on a suite of [checkpoints].

    Args:
        instance: Dagster instance with partitions, runs and materializations.
        settings: Settings with the watched folders and repositories.
        suites: Suites that checkpoints may be evaluated on.
        now: s since the epoch.
    """
    watched = settings.checkpoints
    if not (watched.folders or watched.repositories):
        return []
    matches = (checkpoint_folders.KEY.fullmatch, hub_revisions.KEY.fullmatch)
    known = sorted(
        {name for match in matches for name in _known(instance, settings, match).values()}
    )
    attempts = _read_cursors(instance).get("attempts", {})
    tables = tables_of(suites)
    chosen = {suite: tables[suite] for suite in configured_suites(settings, tables)}
    return plan_evaluations(instance, chosen, known, watched, attempts, now).missing


@dataclass(frozen=True, slots=True)
class _Checkpoints:
    alive: Sequence[str]  # partition keys
    known: Mapping[str, str]  # content -> partition key, of existing partitions
    retired: Sequence[str]
    unfinished: Mapping[str, str]  # name -> why


def _tables(context: dg.SensorEvaluationContext, suites: Sequence[Suite]) -> Tables:
    assert context.repository_def is not None  # the code server's
    return tables_of(suites, context.repository_def.asset_graph)


def _known(
    instance: dg.DagsterInstance, settings: Settings, matches: Callable[[str], object]
) -> dict[str, str]:
    """Checkpoints with a partition, by content; never a model of bench.toml."""
    keys = instance.get_dynamic_partitions(str(MODELS.name))
    return {
        key.rpartition("@")[2]: key
        for key in sorted(keys, reverse=True)
        if matches(key) and key not in settings.models
    }


def _read_cursor(cursor: str | None) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(cursor) if cursor else {}
    return state


def _read_cursors(instance: dg.DagsterInstance) -> dict[str, Any]:
    """What both sensors remember, together."""
    states = [
        _read_cursor(getattr(sensor.instigator_data, "cursor", None))
        for sensor in instance.all_instigator_state()
        if sensor.name in _SENSORS
    ]
    attempts = {name: at for state in states for name, at in state.get("attempts", {}).items()}
    return {name: value for state in states for name, value in state.items()} | {
        "attempts": attempts
    }


def _lacking(settings: Settings, suites: Sequence[str]) -> str:
    return (
        f"no question tables of {', '.join(suites)}: materialize them, or name other suites in"
        f" [checkpoints] of {settings.file}"
    )


def _result(
    instance: dg.DagsterInstance,
    settings: Settings,
    tables: Tables,
    found: _Checkpoints,
    state: Mapping[str, Any],
    now: float,
) -> dg.SensorResult:
    suites = configured_suites(settings, tables)
    if missing := suites_lacking_questions(instance, settings, suites, tables):
        return dg.SensorResult(
            cursor=json.dumps(state),
            skip_reason=_lacking(settings, missing),
        )
    chosen = {suite: tables[suite] for suite in suites}
    attempts = state.get("attempts", {})
    plan = plan_evaluations(instance, chosen, found.alive, settings.checkpoints, attempts, now)
    run_requests_of = run_requests(plan.due, tables, open_leases(settings, CLAIM_SECONDS))
    requests = list(islice(run_requests_of, _REQUESTS_A_TICK))
    for name, requested in requested_attempts(requests, now).items():
        plan.attempts[name] = {**plan.attempts.get(name, {}), **requested}
    new = [key for key in found.alive if key not in found.known.values()]
    changes: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = [
        *([MODELS.build_add_request(new)] if new else []),
        *([MODELS.build_delete_request(list(found.retired))] if found.retired else []),
    ]
    return dg.SensorResult(
        run_requests=requests,
        skip_reason=None if requests else _summary(instance, found, plan.missing),
        dynamic_partitions_requests=changes,
        cursor=json.dumps({**state, "attempts": plan.attempts}),
    )


def _summary(
    instance: dg.DagsterInstance, found: _Checkpoints, missing: Sequence[MissingNumber]
) -> str:
    lines = [f"{len(found.alive)} checkpoints, nothing new"]
    lines += [number.describe(instance) for number in missing[:_SHOWN]]
    lines += [f"and {len(missing) - _SHOWN} more without a number"] * (len(missing) > _SHOWN)
    lines += [f"retired: {key}" for key in found.retired]
    lines += [f"not evaluated: {name}: {reason}" for name, reason in found.unfinished.items()][
        :_SHOWN
    ]
    return "\n".join(lines)
