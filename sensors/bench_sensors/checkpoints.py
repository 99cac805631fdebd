"""Evaluates every checkpoint that appears in the watched folders.

A checkpoint is requested until it has its number, see ``attempts``. Run keys,
``<checkpoint>@<content>/<suite>+<suite>/<attempt>``, and leases prevent duplicate runs. The cursor
remembers digests of files, and attempts whose runs were deleted.
"""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import dagster as dg

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_assets.evaluation.suite import Suite
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

_INTERVAL = 30  # s between two ticks
_REQUESTS_A_TICK = 100  # runs that a tick requests; Dagster queries run keys one by one
_SHOWN = 20  # checkpoints listed in a skip reason, of each kind
_SENSOR = "checkpoint_folders"


def checkpoint_sensor(jobs: Sequence[Any], suites: Sequence[Suite]) -> dg.SensorDefinition:
    """Build the sensor that watches folders and starts the two ``jobs`` of evaluations."""

    @dg.sensor(
        name=_SENSOR,
        jobs=jobs,
        minimum_interval_seconds=_INTERVAL,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Evaluates each finished checkpoint in the folders of [checkpoints].",
    )
    def folders(
        context: dg.SensorEvaluationContext, settings: dg.ResourceParam[Settings]
    ) -> dg.SensorResult:
        assert context.repository_def is not None  # the code server has one
        tables = tables_of(suites, context.repository_def.asset_graph)
        return watch_folders(context.instance, settings, tables, context.cursor, time.time())

    return folders


def watch_folders(
    instance: dg.DagsterInstance, settings: Settings, tables: Tables, cursor: str | None, now: float
) -> dg.SensorResult:
    """Request evaluations of checkpoints in watched folders; retire deleted ones.

    A suite without questions waits until a later tick finds them.
    A retired checkpoint has no partition any more; its tables stay. Only a checkpoint that is
    certainly deleted retires: see ``CheckpointSurvey.is_deleted``.

    Raises:
        SettingsError: If [checkpoints] names no installed suite.
        ModelError: If the model that checkpoints are like cannot be used here.
    """
    if not settings.checkpoints.folders:
        return dg.SensorResult(skip_reason=f"no folders in [checkpoints] of {settings.file}")
    suites, state = configured_suites(settings, tables), _read_cursor(cursor)
    survey = _survey_folders(settings, state.get("digests", {}), now)
    known = _known_checkpoints(instance, settings)
    key_of = {found.content: found.key for found in reversed(survey.finished)} | known
    present = sorted({key_of[checkpoint.content] for checkpoint in survey.finished})
    state = {**state, "digests": survey.digests}
    lacking = suites_lacking_questions(instance, settings, suites, tables)
    evaluated = {suite: tables[suite] for suite in suites if suite not in lacking}
    attempts = state.get("attempts", {})
    plan = plan_evaluations(instance, evaluated, present, settings.checkpoints, attempts, now)
    due_runs = run_requests(plan.due, tables, open_leases(settings, CLAIM_SECONDS))
    requests = list(islice(due_runs, _REQUESTS_A_TICK))
    for name, requested in requested_attempts(requests, now).items():
        plan.attempts[name] = {**plan.attempts.get(name, {}), **requested}
    new = [key for key in present if key not in known.values()]
    retired = [key for key in known.values() if key not in present and survey.is_deleted(key)]
    changes: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = []
    if new:
        changes.append(MODELS.build_add_request(new))
    if retired:
        changes.append(MODELS.build_delete_request(retired))
    n_unlisted = len(plan.missing) - _SHOWN
    summary = [
        *_describe_lacking(settings, lacking),
        f"nothing new (checkpoints: {len(present)})",
        *(number.describe(instance) for number in plan.missing[:_SHOWN]),
        *([f"and {n_unlisted} more without a number"] if n_unlisted > 0 else []),
        *(f"retired: {key}" for key in retired),
        *_describe_unfinished(survey.unfinished)[:_SHOWN],
    ]
    return dg.SensorResult(
        run_requests=requests,
        skip_reason=None if requests else "\n".join(summary),
        dynamic_partitions_requests=changes,
        cursor=json.dumps({**state, "attempts": plan.attempts}),
    )


def describe_missing(
    instance: dg.DagsterInstance, settings: Settings, suites: Sequence[Suite]
) -> list[str]:
    """Describe the checkpoints without a number, one line each, and those not evaluated at all."""
    watched, now = settings.checkpoints, time.time()
    if not watched.folders:
        return []
    tables, state = tables_of(suites), _stored_cursor(instance)
    unfinished: Mapping[str, str] = {}
    try:
        evaluated = configured_suites(settings, tables)
        lacking = suites_lacking_questions(instance, settings, evaluated, tables)
        missing = missing_numbers(instance, settings, suites, now)
        with suppress(ModelError):  # of the model that checkpoints are like: a warning names it
            unfinished = _survey_folders(settings, state.get("digests", {}), now).unfinished
    except SettingsError as error:  # then no checkpoint is evaluated
        return [str(error)]
    return [
        *_describe_lacking(settings, lacking),
        *(number.describe(instance) for number in missing),
        *_describe_unfinished(unfinished),
    ]


def _describe_unfinished(unfinished: Mapping[str, str]) -> list[str]:
    return [f"not evaluated: {name}: {reason}" for name, reason in unfinished.items()]


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


def missing_numbers(
    instance: dg.DagsterInstance, settings: Settings, suites: Sequence[Suite], now: float
) -> list[MissingNumber]:
    """Find the known checkpoints without a number on a suite of [checkpoints].

    Raises:
        SettingsError: If [checkpoints] names no installed suite.
    """
    watched = settings.checkpoints
    if not watched.folders:
        return []
    known = sorted(_known_checkpoints(instance, settings).values())
    attempts = _stored_cursor(instance).get("attempts", {})
    tables = tables_of(suites)
    evaluated = {suite: tables[suite] for suite in configured_suites(settings, tables)}
    return plan_evaluations(instance, evaluated, known, watched, attempts, now).missing


def _known_checkpoints(instance: dg.DagsterInstance, settings: Settings) -> dict[str, str]:
    """Checkpoints with a partition, by content; never a model of bench.toml."""
    keys = instance.get_dynamic_partitions(str(MODELS.name))
    return {
        key.rpartition("@")[2]: key
        for key in sorted(keys, reverse=True)
        if checkpoint_folders.KEY.fullmatch(key) and key not in settings.models
    }


def _read_cursor(cursor: str | None) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(cursor) if cursor else {}
    return state


def _stored_cursor(instance: dg.DagsterInstance) -> dict[str, Any]:
    for sensor in instance.all_instigator_state():
        if sensor.name == _SENSOR:
            return _read_cursor(getattr(sensor.instigator_data, "cursor", None))
    return {}


def _describe_lacking(settings: Settings, suites: Sequence[str]) -> list[str]:
    if not suites:
        return []
    return [
        f"{settings.file}, [checkpoints]: no question tables of {', '.join(suites)} yet."
        " Materialize them, or name other suites"
    ]
