"""The runs that checkpoints need: a first look, if one is configured, then every suite."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import dagster as dg

from bench_assets.catalog import SUITES, tasks_of
from bench_assets.core.errors import SettingsError
from bench_assets.evaluation import questions_key
from bench_assets.task import Task
from resources.settings import Settings
from sensors.first_look import FIRST_LOOK, first_look_key

_LEASE = 300.0  # s that a tick has to start what it claimed; Dagster gives one 60


def configured_suites(settings: Settings) -> list[str]:
    """The suites that checkpoints are evaluated on.

    Raises:
        SettingsError: If [checkpoints] names a suite that there is not.
    """
    named = settings.checkpoints.suites or list(SUITES)
    if unknown := sorted(set(named) - set(SUITES)):
        known = ", ".join(SUITES)
        raise SettingsError(
            f"{settings.file}, [checkpoints], suites: no suite {unknown[0]!r}; known: {known}"
        )
    return named


def without_questions(instance: dg.DagsterInstance, suites: Sequence[str]) -> list[str]:
    """Suites whose question tables were never built: a run over them would only fail."""
    return [
        suite
        for suite in suites
        for keys in [[dg.AssetKey(questions_key(task, "main")) for task in _asked(suite)]]
        if not all(instance.get_latest_materialization_event(key) for key in keys)
    ]


def evaluations(
    instance: dg.DagsterInstance, suites: Sequence[str], checkpoints: Iterable[str], first: int
) -> Iterator[dg.RunRequest]:
    """Every run that checkpoints need by now, whether it was started before or not.

    A suite follows when its first look is there: a checkpoint that does not load costs no more.
    """
    looks = {suite: [first_look_key(task) for task in _asked(suite)] for suite in suites}
    looked = {
        suite: set.intersection(*(instance.get_materialized_partitions(key) for key in keys))
        for suite, keys in looks.items()
        if first
    }
    for checkpoint in checkpoints:
        if first:
            yield dg.RunRequest(
                run_key=f"{checkpoint}/{FIRST_LOOK}/{'+'.join(suites)}",
                job_name=FIRST_LOOK,
                partition_key=checkpoint,
                asset_selection=[key for keys in looks.values() for key in keys],
                tags={"dagster/priority": "1"},
            )
        for suite in suites:
            if not first or checkpoint in looked[suite]:
                yield dg.RunRequest(
                    run_key=f"{checkpoint}/{suite}",
                    job_name=f"evaluate_{suite}",
                    partition_key=checkpoint,
                )


def claim(folder: Path, run_key: str, now: float) -> bool:
    """Take the right to start a run; False if another tick has it.

    Dagster looks for a run of the same key before it starts one, but two ticks may look at once.
    A claim that is older than a tick can be has either led to a run, which Dagster finds, or its
    tick was killed: then this one takes over.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / sha256(run_key.encode()).hexdigest()[:32]
    try:
        file.touch(exist_ok=False)
    except FileExistsError:
        if now - file.stat().st_mtime < _LEASE:
            return False
        file.touch()
    return True


def _asked(suite: str) -> list[Task]:
    return [task for task in tasks_of(suite) if task.asked_of == "model"]
