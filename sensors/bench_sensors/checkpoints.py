"""Evaluates every checkpoint that appears in the watched folders and hub repositories, once.

Run keys, ``<checkpoint>@<content>/<suite>+<suite>``, prevent duplicate runs: a suite in a run key
is not requested again, and of two simultaneous ticks only one may request it. The cursor only
saves work: if it is lost, files are read again, and no run starts.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import dagster as dg

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.evaluation.suite import Suite
from bench_resources.checkpoints import hub_revisions
from bench_resources.checkpoints import watched_folders as checkpoint_folders
from bench_resources.config.bench_toml import Settings
from bench_resources.config.stores import open_leases
from bench_resources.models.registry.named_models import base_of_checkpoints
from bench_sensors.evaluations import (
    CLAIM_SECONDS,
    Tables,
    configured_suites,
    evaluations,
    run_requests,
    suites_lacking_questions,
    tables_of,
)

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_REQUESTS_A_TICK = 100  # Dagster queries run keys one by one, and starts a few runs per second
_SHOWN = 20  # unfinished checkpoints listed in a skip reason


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

        tables = _tables(context, suites)
        return watch_hub(context.instance, settings, tables, HfApi())

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
    survey = _survey_folders(settings, json.loads(cursor)["digests"] if cursor else {}, now)
    known = _known(instance, settings, checkpoint_folders.KEY.fullmatch)
    named = dict(known)
    for found in survey.finished:
        named.setdefault(found.content, found.key)
    alive = {named[found.content] for found in survey.finished}
    retired = [key for key in known.values() if key not in alive and survey.is_deleted(key)]
    return _result(
        instance,
        settings,
        tables,
        _Checkpoints(sorted(alive), known, retired, survey.unfinished),
        cursor=json.dumps({"digests": survey.digests}),
    )


def _survey_folders(
    settings: Settings, remembered: Mapping[str, str], now: float
) -> checkpoint_folders.CheckpointSurvey:
    watched = settings.checkpoints
    return checkpoint_folders.survey_folders(
        [settings.resolve(folder) for folder in watched.folders],
        now=now,
        settle_seconds=watched.settle_seconds,
        remembered=remembered,
        full_digest=watched.full_digest,
        base=base_of_checkpoints(settings),
    )


def watch_hub(
    instance: dg.DagsterInstance, settings: Settings, tables: Tables, api: "HfApi"
) -> dg.SensorResult:
    """Request evaluations of watched repositories' revisions; retire deleted ones.

    A revision retires if its branch or tag was deleted and no other points to its commit. If its
    branch moved on, it stays: the commit can still be loaded, and is a point of the curve. Nothing
    retires if the hub does not list the repository or cannot be reached.

    Args:
        instance: Dagster instance with partitions and runs.
        settings: Settings with the watched repositories.
        tables: Tables of each suite that evaluates models.
        api: Client of the hub.

    Raises:
        SettingsError: If [checkpoints] names an unknown suite.
    """
    repositories = settings.checkpoints.repositories
    if not repositories:
        return dg.SensorResult(skip_reason=f"no repositories in [checkpoints] of {settings.file}")
    known = _known(instance, settings, hub_revisions.KEY.fullmatch)
    survey = hub_revisions.hub_survey(repositories, known.keys(), api)
    alive = sorted({known.get(found.commit, found.key) for found in survey.finished})
    retired = [key for key in known.values() if key not in alive and survey.lost(key)]
    return _result(
        instance, settings, tables, _Checkpoints(alive, known, retired, survey.unfinished)
    )


@dataclass(frozen=True, slots=True)
class _Checkpoints:
    alive: Sequence[str]  # partition keys
    known: Mapping[str, str]  # content -> partition key, of existing partitions
    retired: Sequence[str]
    unfinished: Mapping[str, str]  # name -> why


def _tables(context: dg.SensorEvaluationContext, suites: Sequence[Suite]) -> Tables:
    assert context.repository_def is not None  # the code server's
    return tables_of(suites, context.repository_def)


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


def _result(
    instance: dg.DagsterInstance,
    settings: Settings,
    tables: Tables,
    found: _Checkpoints,
    cursor: str | None = None,
) -> dg.SensorResult:
    suites = configured_suites(settings, tables)
    if missing := suites_lacking_questions(instance, suites, tables):
        return dg.SensorResult(
            cursor=cursor,
            skip_reason=f"no question tables of {', '.join(missing)}: materialize them, or name "
            f"other suites in [checkpoints] of {settings.file}",
        )
    chosen = {suite: tables[suite] for suite in suites}
    needed = evaluations(instance, chosen, found.alive, settings.checkpoints.first)
    asking = run_requests(needed, tables, open_leases(settings, CLAIM_SECONDS))
    requests = list(islice(asking, _REQUESTS_A_TICK))
    new = [key for key in found.alive if key not in found.known.values()]
    changes: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = [
        *([MODELS.build_add_request(new)] if new else []),
        *([MODELS.build_delete_request(list(found.retired))] if found.retired else []),
    ]
    return dg.SensorResult(
        run_requests=requests,
        skip_reason=None if requests else _summary(found),
        dynamic_partitions_requests=changes,
        cursor=cursor,
    )


def _summary(found: _Checkpoints) -> str:
    lines = [f"{len(found.alive)} checkpoints, nothing new"]
    lines += [f"retired: {key}" for key in found.retired]
    lines += [f"not evaluated: {name}: {why}" for name, why in found.unfinished.items()][:_SHOWN]
    return "\n".join(lines)
