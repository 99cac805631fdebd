"""Runs of checkpoints: a quick evaluation, if one is configured, then a full one over all suites.

What has no number is due, whatever runs there were. Runs say whether one is under way, and when
another attempt is due.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.asset_factory.suite_assets import select_group
from bench_assets.core.schema.errors import SettingsError, did_you_mean
from bench_assets.evaluation.suite import Suite
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.watched import CheckpointSettings
from bench_resources.datasets.source_files import table_locations
from bench_resources.runs.failures import describe_failure, first_line, recorded_events
from bench_resources.runs.ledger import last_materialization
from bench_sensors.attempts import (
    ACTIVE_STATUSES,
    ATTEMPT_TAG,
    Attempts,
    Decision,
    decide,
    known_attempts,
)
from bench_sensors.quick_evaluation import QUICK_EVALUATION, quick_evaluation_key

EVALUATION_JOB = "evaluate_checkpoint"
"""Name of the job that materializes all tables of one model."""

CLAIM_SECONDS = 300.0
"""s that a tick's lease on a run lasts; Dagster gives a tick 60."""

_CHECKPOINTS_A_QUERY = 200  # checkpoints per query


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTables:
    """The tables of a suite that take part in an evaluation of a model."""

    questions: Sequence[dg.AssetKey]  # question tables of its model tasks
    quick_outputs: Sequence[dg.AssetKey]  # of the quick evaluation
    outputs: Sequence[dg.AssetKey]  # of the full evaluation
    metrics: Sequence[dg.AssetKey]  # the metrics among the outputs

    def outputs_of(self, job: str) -> Sequence[dg.AssetKey]:
        """Tables that a job, the quick or the full evaluation, makes."""
        return self.quick_outputs if job == QUICK_EVALUATION else self.outputs


Tables: TypeAlias = Mapping[str, SuiteTables]  # by name of the suite; only suites with model tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointEvaluation:
    """A run to request: one checkpoint on all due suites, so that weights are loaded once."""

    job: str
    checkpoint: str
    suites: Sequence[str]
    attempt: int = 1

    @property
    def name(self) -> str:
        """Prefix of the run key; suites and attempt follow."""
        return evaluation_name(self.job, self.checkpoint)


class MissingNumber(NamedTuple):
    """A checkpoint without a number on suites, and why."""

    checkpoint: str
    suites: Sequence[str]
    state: str  # such as "tried 3 times, next 04:10"
    failed_run: str  # id of the run that failed last; "": none did

    def describe(self, instance: dg.DagsterInstance) -> str:
        """The checkpoint, its suites, the last failure and the state, on one line."""
        failure = ""
        if self.failed_run:
            events = recorded_events(instance, self.failed_run)
            failure = f"{first_line(describe_failure(events))}, "
        return f"{self.checkpoint} on {', '.join(self.suites)}: no number: {failure}{self.state}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What checkpoints lack."""

    due: list[CheckpointEvaluation] = field(default_factory=list)
    missing: list[MissingNumber] = field(default_factory=list)  # also those that are due
    attempts: dict[str, Attempts] = field(default_factory=dict)  # by "<name>/<suite>"


def evaluation_name(job: str, checkpoint: str) -> str:
    """Name of a checkpoint's full or quick evaluation."""
    return f"{checkpoint}/{QUICK_EVALUATION}" if job == QUICK_EVALUATION else checkpoint


def suite_tables(*suites: str) -> dg.AssetSelection:
    """Tables of one evaluation of a model on suites, without ablations."""
    return select_group(*suites) & dg.AssetSelection.tag("bench/per", "model")


def tables_of(suites: Iterable[Suite], graph: Any = None) -> dict[str, SuiteTables]:  # noqa: ANN401
    """Find the tables of each suite that has tasks for models; no ``outputs`` without a graph."""
    tables = {}
    for suite in suites:
        tasks = [task for task in suite.tasks if task.asked_of == "model"]
        if tasks:
            tables[suite.name] = SuiteTables(
                questions=[dg.AssetKey(questions_key(task, "main")) for task in tasks],
                quick_outputs=[quick_evaluation_key(task) for task in tasks],
                outputs=sorted(suite_tables(suite.name).resolve(graph)) if graph else (),
                metrics=[dg.AssetKey(evaluation_key(task, "main", "metrics")) for task in tasks],
            )
    return tables


def configured_suites(settings: Settings, tables: Tables) -> list[str]:
    """The suites that checkpoints are evaluated on; those that are not installed are left out.

    Raises:
        SettingsError: If [checkpoints] names no installed suite.
    """
    suite_names = settings.checkpoints.suites or list(tables)
    installed = [name for name in suite_names if name in tables]
    if suite_names and not installed:
        unknown = min(suite_names)
        message = (
            f"{settings.file}, [checkpoints], suites: no suite {unknown!r};"
            f" known: {', '.join(tables)}"
        )
        suggestion = did_you_mean(unknown, tables)
        raise SettingsError(f"{message}; {suggestion}" if suggestion else message)
    return installed


def suites_lacking_questions(
    instance: dg.DagsterInstance, settings: Settings, suites: Sequence[str], tables: Tables
) -> list[str]:
    """Suites without question tables of their present source: a run over them would fail."""
    roots = table_locations(settings)

    def is_built(suite: str, key: dg.AssetKey) -> bool:
        last = last_materialization(instance, key)
        return last is not None and last.root == roots.get(suite, "")

    return [
        suite
        for suite in suites
        if not all(is_built(suite, key) for key in tables[suite].questions)
    ]


def plan_evaluations(
    instance: dg.DagsterInstance,
    tables: Tables,
    checkpoints: Sequence[str],
    watched: CheckpointSettings,
    attempts: Mapping[str, Attempts],
    now: float,
) -> Plan:
    """Find the evaluations without a number, and those of them to request now.

    The full evaluation on a suite waits for a successful quick evaluation, if there is one, so that
    a checkpoint that cannot be loaded starts no further run. ``attempts`` are remembered by
    "<name>/<suite>", because their runs may be deleted.
    """
    # Read before the tables: a run that ends in between must not count as over without them.
    active = _runs_by_checkpoint(instance, statuses=ACTIVE_STATUSES)
    next_jobs = _next_jobs(instance, tables, checkpoints, watched.first)
    all_runs = _runs_of(instance, list(next_jobs))
    plan = Plan()
    for checkpoint, suite_jobs in next_jobs.items():
        active_runs = active.get(checkpoint, [])
        runs = [*active_runs, *all_runs.get(checkpoint, [])]
        is_quick_running = any(run.dagster_run.job_name == QUICK_EVALUATION for run in active_runs)
        due: dict[tuple[str, int], list[str]] = defaultdict(list)
        missing: dict[tuple[str, str], list[str]] = defaultdict(list)
        for suite, job in suite_jobs.items():
            suite_runs = [
                run for run in runs if _makes_outputs(run.dagster_run, job, suite, tables[suite])
            ]
            name = f"{evaluation_name(job, checkpoint)}/{suite}"
            known = known_attempts(suite_runs, attempts.get(name, {}), watched.attempts_a_day)
            decision = decide(suite_runs, known, watched.attempts_a_day, now)
            if is_quick_running and job == EVALUATION_JOB:
                decision = Decision(attempt=0, state="a quick evaluation runs")
            if known:
                plan.attempts[name] = known
            due[job, decision.attempt].append(suite)
            failed = (run.dagster_run.run_id for run in suite_runs if run.dagster_run.is_failure)
            missing[decision.state, next(failed, "")].append(suite)
        plan.due.extend(
            CheckpointEvaluation(job=job, checkpoint=checkpoint, suites=suites, attempt=attempt)
            for (job, attempt), suites in due.items()
            if attempt
        )
        plan.missing.extend(
            MissingNumber(checkpoint=checkpoint, suites=suites, state=state, failed_run=run_id)
            for (state, run_id), suites in missing.items()
        )
    return plan


def _next_jobs(
    instance: dg.DagsterInstance, tables: Tables, checkpoints: Iterable[str], first: int
) -> dict[str, dict[str, str]]:
    """The next job by checkpoint and suite, for suites on which the checkpoint has no metrics."""
    jobs: dict[str, dict[str, str]] = {checkpoint: {} for checkpoint in checkpoints}
    for suite, outputs in tables.items():
        evaluated = current_models(instance, outputs.metrics)
        quickly_evaluated = current_models(instance, outputs.quick_outputs) if first else set()
        for checkpoint, suite_jobs in jobs.items():
            if checkpoint in evaluated:
                continue
            needs_quick = first and checkpoint not in quickly_evaluated
            suite_jobs[suite] = QUICK_EVALUATION if needs_quick else EVALUATION_JOB
    return {checkpoint: suite_jobs for checkpoint, suite_jobs in jobs.items() if suite_jobs}


def run_requests(
    due: Iterable[CheckpointEvaluation], tables: Tables, claim: Callable[[str], bool]
) -> Iterator[dg.RunRequest]:
    """Request the runs that no other tick requests.

    Two ticks may overlap before a run is stored, so each request takes a lease. If a lease expired
    without a run, its tick was killed, and this one takes over. ``claim`` takes the lease on
    ``<name>/<suite>/<attempt>``, and returns False if another tick holds it.
    """
    for evaluation in due:
        suites = [
            suite
            for suite in evaluation.suites
            if claim(f"{evaluation.name}/{suite}/{evaluation.attempt}")
        ]
        if suites:
            priority = {"dagster/priority": "1"} if evaluation.job == QUICK_EVALUATION else {}
            yield dg.RunRequest(
                run_key=f"{evaluation.name}/{'+'.join(suites)}/{evaluation.attempt}",
                job_name=evaluation.job,
                partition_key=evaluation.checkpoint,
                asset_selection=[
                    key for suite in suites for key in tables[suite].outputs_of(evaluation.job)
                ],
                tags={ATTEMPT_TAG: str(evaluation.attempt), **priority},
            )


def requested_attempts(requests: Iterable[dg.RunRequest], now: float) -> dict[str, Attempts]:
    """Record requests as attempts, by "<name>/<suite>"."""
    attempts: dict[str, Attempts] = {}
    for request in requests:
        name, suites, attempt = str(request.run_key).rsplit("/", 2)
        attempts |= {f"{name}/{suite}": {attempt: now} for suite in suites.split("+")}
    return attempts


def current_models(instance: dg.DagsterInstance, keys: Iterable[dg.AssetKey]) -> set[str]:
    """Models that have all of these tables.

    Numbers of earlier questions count: evaluating again is left to ``question_changes``.
    """
    return set.intersection(*(instance.get_materialized_partitions(key) for key in keys))


def _runs_by_checkpoint(
    instance: dg.DagsterInstance,
    **filters: Any,  # noqa: ANN401
) -> dict[str, list[dg.RunRecord]]:
    """Runs that match ``RunsFilter`` arguments by checkpoint, the newest first."""
    records: dict[str, list[dg.RunRecord]] = defaultdict(list)
    for record in instance.get_run_records(dg.RunsFilter(**filters)):
        records[record.dagster_run.tags.get("dagster/partition", "")].append(record)
    return dict(records)


def _runs_of(instance: dg.DagsterInstance, names: Sequence[str]) -> dict[str, list[dg.RunRecord]]:
    """All runs of checkpoints that are still stored, by checkpoint, the newest first."""
    runs: dict[str, list[dg.RunRecord]] = {}
    for start in range(0, len(names), _CHECKPOINTS_A_QUERY):
        tags = {"dagster/partition": names[start : start + _CHECKPOINTS_A_QUERY]}
        runs |= _runs_by_checkpoint(instance, tags=tags)
    return runs


def _makes_outputs(run: dg.DagsterRun, job: str, suite: str, tables: SuiteTables) -> bool:
    """Whether a run makes one of the tables that a job is run for: metrics, or quick outputs."""
    if run.asset_selection is None:
        return run.job_name in (job, f"evaluate_{suite}")
    outputs = tables.quick_outputs if job == QUICK_EVALUATION else tables.metrics
    return not run.asset_selection.isdisjoint(outputs)
