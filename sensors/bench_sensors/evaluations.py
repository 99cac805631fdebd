"""Runs of checkpoints: a quick evaluation, if one is configured, then a full one over all suites.

Earlier requests are read from the run keys in Dagster's run storage, which name a checkpoint and
the suites of its run: one query for all checkpoints.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import questions_key
from bench_assets.asset_factory.suite_assets import select_group
from bench_assets.core.schema.errors import SettingsError, did_you_mean
from bench_assets.evaluation.suite import Suite
from bench_resources.config.bench_toml import Settings
from bench_sensors.quick_evaluation import QUICK_EVALUATION, quick_evaluation_key

EVALUATION_JOB = "evaluate_checkpoint"
"""Name of the job that materializes all tables of one model."""

CLAIM_SECONDS = 300.0
"""s that a tick's lease on a run lasts; Dagster gives a tick 60."""

_FINISHED_STATUSES = (
    dg.DagsterRunStatus.SUCCESS,
    dg.DagsterRunStatus.FAILURE,
    dg.DagsterRunStatus.CANCELED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTables:
    """The tables of a suite that take part in an evaluation of a model."""

    questions: Sequence[dg.AssetKey]  # question tables of its model tasks
    looks: Sequence[dg.AssetKey]  # outputs of the quick evaluation
    made: Sequence[dg.AssetKey]  # outputs of the full evaluation


Tables: TypeAlias = Mapping[str, SuiteTables]  # by name of the suite; only suites with model tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointEvaluation:
    """A run to request: one checkpoint on all missing suites, so that weights are loaded once."""

    job: str
    checkpoint: str
    suites: Sequence[str]

    @property
    def name(self) -> str:
        """Prefix of the run key; the suites follow."""
        return _quick_run_key(self.checkpoint) if self.job == QUICK_EVALUATION else self.checkpoint


def suite_tables(*suites: str) -> dg.AssetSelection:
    """Tables of one evaluation of a model on suites, without ablations."""
    return select_group(*suites) & dg.AssetSelection.tag("bench/per", "model")


def tables_of(
    suites: Iterable[Suite], repository: dg.RepositoryDefinition
) -> dict[str, SuiteTables]:
    """Find the tables of each suite that has tasks for models."""
    return {
        suite.name: SuiteTables(
            questions=[dg.AssetKey(questions_key(task, "main")) for task in model_tasks],
            looks=[quick_evaluation_key(task) for task in model_tasks],
            made=sorted(suite_tables(suite.name).resolve(repository.asset_graph)),
        )
        for suite in suites
        if (model_tasks := [task for task in suite.tasks if task.asked_of == "model"])
    }


def configured_suites(settings: Settings, tables: Tables) -> list[str]:
    """The suites that checkpoints are evaluated on; those that are not installed are left out.

    Raises:
        SettingsError: If [checkpoints] names no installed suite.
    """
    named = settings.checkpoints.suites or list(tables)
    installed = [name for name in named if name in tables]
    if unknown := sorted(set(named) - set(tables)) if not installed else []:
        known, suggestion = ", ".join(tables), did_you_mean(unknown[0], tables)
        raise SettingsError(
            f"{settings.file}, [checkpoints], suites: no suite {unknown[0]!r}; known: {known}"
            f"{suggestion and f'; {suggestion}'}"
        )
    return installed


def suites_lacking_questions(
    instance: dg.DagsterInstance, suites: Sequence[str], tables: Tables
) -> list[str]:
    """Suites without question tables: a run over them would fail."""
    return [
        suite
        for suite in suites
        if not all(map(instance.get_latest_materialization_event, tables[suite].questions))
    ]


def evaluations(
    instance: dg.DagsterInstance, tables: Tables, checkpoints: Iterable[str], first: int
) -> Iterator[CheckpointEvaluation]:
    """Find the evaluations of checkpoints for which no run was started.

    The full evaluation on a suite waits for a successful quick evaluation, if there is one, so that
    a checkpoint that cannot be loaded starts no further run.

    Args:
        instance: Dagster instance with the runs.
        tables: Tables of the suites to evaluate on.
        checkpoints: Partition keys of the checkpoints.
        first: Questions per task of the quick evaluation; 0: none.
    """
    started = _started_suites(instance)
    # Read before the tables: a run that ends in between must not count as over with half of them.
    looking = _running_quick(instance) if first else set()
    looked = {suite: _finished_quick(instance, of.looks) for suite, of in tables.items() if first}
    for checkpoint in checkpoints:
        lacking = [suite for suite in tables if suite not in started[checkpoint]]
        if first:
            unseen = [
                suite for suite in lacking if suite not in started[_quick_run_key(checkpoint)]
            ]
            if unseen:
                yield CheckpointEvaluation(
                    job=QUICK_EVALUATION, checkpoint=checkpoint, suites=unseen
                )
            waits = unseen or checkpoint in looking
            lacking = [] if waits else [suite for suite in lacking if checkpoint in looked[suite]]
        if lacking:
            yield CheckpointEvaluation(job=EVALUATION_JOB, checkpoint=checkpoint, suites=lacking)


def run_requests(
    needed: Iterable[CheckpointEvaluation], tables: Tables, claim: Callable[[str], bool]
) -> Iterator[dg.RunRequest]:
    """Request the runs that no other tick requests.

    Two ticks may overlap before a run is stored, so each request takes a lease. If a lease expired
    without a run, its tick was killed, and this one takes over.

    Args:
        needed: The runs.
        tables: Tables of each suite.
        claim: Takes the lease on ``<name>/<suite>``; False if another tick holds it.
    """
    for one in needed:
        suites = [suite for suite in one.suites if claim(f"{one.name}/{suite}")]
        if suites:
            yield dg.RunRequest(
                run_key=f"{one.name}/{'+'.join(suites)}",
                job_name=one.job,
                partition_key=one.checkpoint,
                asset_selection=_selection(one.job, [tables[suite] for suite in suites]),
                tags={"dagster/priority": "1"} if one.job == QUICK_EVALUATION else None,
            )


def _started_suites(instance: dg.DagsterInstance) -> dict[str, set[str]]:
    """Suites with past runs, by ``CheckpointEvaluation.name``."""
    suites: dict[str, set[str]] = defaultdict(set)
    for _, keys in instance.get_run_tags(["dagster/run_key"]):
        for key in keys:
            name, _, named = key.rpartition("/")
            suites[name] |= set(named.split("+"))
    return suites


def _quick_run_key(checkpoint: str) -> str:
    return f"{checkpoint}/{QUICK_EVALUATION}"


def _running_quick(instance: dg.DagsterInstance) -> set[str]:
    """Checkpoints with an unfinished quick evaluation."""
    unfinished = [status for status in dg.DagsterRunStatus if status not in _FINISHED_STATUSES]
    runs = instance.get_runs(dg.RunsFilter(job_name=QUICK_EVALUATION, statuses=unfinished))
    return {run.tags["dagster/partition"] for run in runs if "dagster/partition" in run.tags}


def _finished_quick(instance: dg.DagsterInstance, looks: Iterable[dg.AssetKey]) -> set[str]:
    """Models with a finished quick evaluation of all tasks of a suite."""
    return set.intersection(*(instance.get_materialized_partitions(key) for key in looks))


def _selection(job: str, tables: Iterable[SuiteTables]) -> list[dg.AssetKey]:
    return [key for of in tables for key in (of.looks if job == QUICK_EVALUATION else of.made)]
