"""Evaluates every checkpoint that appears in the watched folders and hub repositories, once.

What makes it once is the run key, ``<checkpoint>@<content>/<suite>``: Dagster starts no second run
for it, and of two ticks at once only one may ask. The cursor only saves work: when it is lost,
everything is asked for again, and nothing starts.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Self

import dagster as dg

from bench_assets.partitions import MODELS
from resources import checkpoint_folders, hub_revisions
from resources.settings import Settings
from resources.settings_file import SettingsFile
from sensors.evaluations import claim, configured_suites, evaluations, without_questions

if TYPE_CHECKING:
    from dagster._core.definitions.unresolved_asset_job_definition import (
        UnresolvedAssetJobDefinition,
    )
    from huggingface_hub import HfApi

_REQUESTS_A_TICK = 100  # Dagster looks each run key up by itself, and a tick has a minute
_SHOWN = 20  # unfinished checkpoints that a tick tells about


def checkpoint_sensors(
    jobs: "Sequence[UnresolvedAssetJobDefinition]",
) -> list[dg.SensorDefinition]:
    """Build the sensors that watch folders and hub repositories.

    Args:
        jobs: ``first_look`` and ``evaluate_<suite>`` for every suite.
    """

    @dg.sensor(
        name="checkpoint_folders",
        jobs=jobs,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Evaluates each checkpoint that is finished in a folder of [checkpoints].",
    )
    def folders(context: dg.SensorEvaluationContext, settings: SettingsFile) -> dg.SensorResult:
        return watch_folders(context.instance, settings.load(), context.cursor, time.time())

    @dg.sensor(
        name="hub_revisions",
        jobs=jobs,
        minimum_interval_seconds=600,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Evaluates each branch and tag of the hub repositories of [checkpoints].",
    )
    def revisions(context: dg.SensorEvaluationContext, settings: SettingsFile) -> dg.SensorResult:
        from huggingface_hub import HfApi

        return watch_hub(context.instance, settings.load(), context.cursor, HfApi())

    return [folders, revisions]


def watch_folders(
    instance: dg.DagsterInstance, settings: Settings, cursor: str | None, now: float
) -> dg.SensorResult:
    """Ask for what the checkpoints in the watched folders still need; retire deleted ones.

    A retired checkpoint is no partition any more; its tables stay. While a watched folder is not
    there at all nothing retires: it may not be mounted.

    Raises:
        SettingsError: If [checkpoints] names a suite that there is not.
    """
    watched, memory = settings.checkpoints, _Memory.read(cursor)
    if not watched.folders:
        return dg.SensorResult(skip_reason=f"no folders in [checkpoints] of {settings.file}")
    folders = [settings.resolve(folder) for folder in watched.folders]
    survey = checkpoint_folders.survey(
        folders,
        now=now,
        settle_seconds=watched.settle_seconds,
        remembered=memory.digests,
        full_digest=watched.full_digest,
    )
    known = _known(instance, settings, checkpoint_folders.KEY.fullmatch)
    named = dict(known)
    for found in survey.finished:
        named.setdefault(found.content, found.key)
    alive = {named[found.content] for found in survey.finished}
    mounted = all(folder.is_dir() for folder in folders)
    retired = [
        key
        for key in known.values()
        if mounted and key not in alive and key.rpartition("@")[0] not in survey.unfinished
    ]
    memory = _Memory(digests=survey.digests, requested=memory.requested)
    return _result(
        instance, settings, memory, _Checkpoints(sorted(alive), known, retired, survey.unfinished)
    )


def watch_hub(
    instance: dg.DagsterInstance, settings: Settings, cursor: str | None, api: "HfApi"
) -> dg.SensorResult:
    """Ask for what the revisions of the watched repositories still need.

    None retires: a commit can be loaded after its branch went on.

    Raises:
        SettingsError: If [checkpoints] names a suite that there is not.
    """
    repositories = settings.checkpoints.repositories
    if not repositories:
        return dg.SensorResult(skip_reason=f"no repositories in [checkpoints] of {settings.file}")
    known = _known(instance, settings, hub_revisions.KEY.fullmatch)
    survey = hub_revisions.hub_survey(repositories, known.keys(), api)
    alive = sorted({known.get(found.commit, found.key) for found in survey.finished})
    return _result(
        instance,
        settings,
        _Memory.read(cursor),
        _Checkpoints(alive, known, [], survey.unfinished),
    )


@dataclass(frozen=True, slots=True)
class _Checkpoints:
    alive: Sequence[str]  # partition keys
    known: Mapping[str, str]  # content -> partition key, of those that are partitions already
    retired: Sequence[str]
    unfinished: Mapping[str, str]  # name -> why


@dataclass(frozen=True, slots=True)
class _Memory:
    """What the cursor holds: saves reading files again, and looking run keys up again."""

    digests: Mapping[str, str] = field(default_factory=dict)
    requested: Sequence[str] = ()

    @classmethod
    def read(cls, cursor: str | None) -> Self:
        return cls(**json.loads(cursor)) if cursor else cls()

    def written(self) -> str:
        return json.dumps({"digests": self.digests, "requested": self.requested})


def _known(
    instance: dg.DagsterInstance, settings: Settings, matches: Callable[[str], object]
) -> dict[str, str]:
    """Checkpoints that are partitions already, by content; never a model of bench.toml."""
    keys = instance.get_dynamic_partitions(str(MODELS.name))
    return {
        key.rpartition("@")[2]: key
        for key in sorted(keys, reverse=True)
        if matches(key) and key not in settings.models
    }


def _result(
    instance: dg.DagsterInstance, settings: Settings, memory: _Memory, found: _Checkpoints
) -> dg.SensorResult:
    suites = configured_suites(settings)
    if missing := without_questions(instance, suites):
        return dg.SensorResult(
            skip_reason=f"no question tables of {', '.join(missing)}: materialize them, or name "
            f"other suites in [checkpoints] of {settings.file}"
        )
    wanted = list(evaluations(instance, suites, found.alive, settings.checkpoints.first))
    requested = set(memory.requested) & {str(request.run_key) for request in wanted}
    claims = settings.home / "claims"
    fresh = (
        request
        for request in wanted
        for key in [str(request.run_key)]
        if key not in requested and claim(claims, key, time.time())
    )
    requests = list(islice(fresh, _REQUESTS_A_TICK))
    new = [key for key in found.alive if key not in found.known.values()]
    changes: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = [
        *([MODELS.build_add_request(new)] if new else []),
        *([MODELS.build_delete_request(list(found.retired))] if found.retired else []),
    ]
    requested |= {str(request.run_key) for request in requests}
    return dg.SensorResult(
        run_requests=requests,
        skip_reason=None if requests else _summary(found),
        dynamic_partitions_requests=changes,
        cursor=_Memory(digests=memory.digests, requested=sorted(requested)).written(),
    )


def _summary(found: _Checkpoints) -> str:
    lines = [f"{len(found.alive)} checkpoints, nothing new"]
    lines += [f"retired: {key}" for key in found.retired]
    lines += [f"not taken: {name}: {why}" for name, why in found.unfinished.items()][:_SHOWN]
    return "\n".join(lines)
