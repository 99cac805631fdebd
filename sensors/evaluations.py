"""The runs that checkpoints need: a first look, if one is configured, then one over all suites.

What was asked for already is read off the run keys in Dagster's run storage, which name a
checkpoint and the suites of its run: one query for all checkpoints.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import dagster as dg

from bench_assets.catalog import SUITES, tasks_of
from bench_assets.core.errors import SettingsError
from bench_assets.evaluation import questions_key
from bench_assets.task import Task
from resources.settings import Settings
from sensors.first_look import FIRST_LOOK, first_look_key

EVALUATE = "evaluate_checkpoint"
"""Name of the job over everything that is made of one model."""

Tables: TypeAlias = Mapping[str, Sequence[dg.AssetKey]]  # suite -> what its evaluation makes

_LEASE = 300.0  # s that a tick has to start what it claimed; Dagster gives one 60
_OVER = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A run that a checkpoint needs, over all suites that it lacks: weights are loaded once."""

    job: str
    checkpoint: str
    suites: Sequence[str]

    @property
    def name(self) -> str:
        """What its run key begins with; the suites follow."""
        return _look_at(self.checkpoint) if self.job == FIRST_LOOK else self.checkpoint


def suite_tables(suite: str) -> dg.AssetSelection:
    """Everything that one evaluation of a model on a suite makes: no ablations."""
    return dg.AssetSelection.groups(suite) & dg.AssetSelection.tag("bench/per", "model")


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
) -> Iterator[Evaluation]:
    """Find what checkpoints need by now that no run was started for.

    The suites follow when the first look is over, those whose look is there: a checkpoint that
    does not load costs no more.
    """
    started = _started(instance)
    # Before the looks themselves: one that ends meanwhile must not seem over with half of them.
    looking = _looking(instance) if first else set()
    looked = {suite: _looked(instance, suite) for suite in suites if first}
    for checkpoint in checkpoints:
        lacking = [suite for suite in suites if suite not in started[checkpoint]]
        if first:
            unseen = [suite for suite in lacking if suite not in started[_look_at(checkpoint)]]
            if unseen:
                yield Evaluation(job=FIRST_LOOK, checkpoint=checkpoint, suites=unseen)
            waits = unseen or checkpoint in looking
            lacking = [] if waits else [suite for suite in lacking if checkpoint in looked[suite]]
        if lacking:
            yield Evaluation(job=EVALUATE, checkpoint=checkpoint, suites=lacking)


def run_requests(
    needed: Iterable[Evaluation], tables: Tables, claims: Path, now: float
) -> Iterator[dg.RunRequest]:
    """Ask for runs over what no other tick is asking for.

    Args:
        needed: The runs.
        tables: What the evaluation of each suite makes.
        claims: Folder that all ticks share.
        now: s since the epoch.
    """
    for one in needed:
        suites = [suite for suite in one.suites if claim(claims, f"{one.name}/{suite}", now)]
        if suites:
            yield dg.RunRequest(
                run_key=f"{one.name}/{'+'.join(suites)}",
                job_name=one.job,
                partition_key=one.checkpoint,
                asset_selection=_selection(one.job, suites, tables),
                tags={"dagster/priority": "1"} if one.job == FIRST_LOOK else None,
            )


def claim(folder: Path, name: str, now: float) -> bool:
    """Take the right to start an evaluation on one suite; False if another tick has it.

    Run storage knows the runs that there are, but two ticks may look at once. A claim that is
    older than a tick can be has either led to a run, which is found, or its tick was killed: then
    this one takes over.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / sha256(name.encode()).hexdigest()[:32]
    try:
        file.touch(exist_ok=False)
    except FileExistsError:
        if now - file.stat().st_mtime < _LEASE:
            return False
        file.touch()
    return True


def _started(instance: dg.DagsterInstance) -> dict[str, set[str]]:
    """Suites that there were ever runs for, by ``Evaluation.name``."""
    suites: dict[str, set[str]] = defaultdict(set)
    for _, keys in instance.get_run_tags(["dagster/run_key"]):
        for key in keys:
            name, _, named = key.rpartition("/")
            suites[name] |= set(named.split("+"))
    return suites


def _look_at(checkpoint: str) -> str:
    return f"{checkpoint}/{FIRST_LOOK}"


def _looking(instance: dg.DagsterInstance) -> set[str]:
    """Checkpoints with a first look that is not over."""
    unfinished = [status for status in dg.DagsterRunStatus if status not in _OVER]
    runs = instance.get_runs(dg.RunsFilter(job_name=FIRST_LOOK, statuses=unfinished))
    return {run.tags["dagster/partition"] for run in runs if "dagster/partition" in run.tags}


def _looked(instance: dg.DagsterInstance, suite: str) -> set[str]:
    """Models that answered the first questions of all tasks of a suite."""
    keys = [first_look_key(task) for task in _asked(suite)]
    return set.intersection(*(instance.get_materialized_partitions(key) for key in keys))


def _selection(job: str, suites: Sequence[str], tables: Tables) -> list[dg.AssetKey]:
    if job == FIRST_LOOK:
        return [first_look_key(task) for suite in suites for task in _asked(suite)]
    return [key for suite in suites for key in tables[suite]]


def _asked(suite: str) -> list[Task]:
    return [task for task in tasks_of(suite) if task.asked_of == "model"]
