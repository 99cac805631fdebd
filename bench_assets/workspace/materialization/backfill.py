"""Backfills: one run per model; a failing task or model does not stop the others."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic

from bench_assets.asset_factory.evaluation_tables import (
    describe_questions,
    evaluation_key,
    questions_key,
    read_rejections,
)
from bench_assets.core.schema.errors import BenchError, HomeError, UnknownNameError
from bench_assets.core.schema.metric_text import format_mixed
from bench_assets.core.schema.rows import Metric, Score
from bench_assets.evaluation.task import Task
from bench_assets.workspace.materialization.asset_selections import tasks_of_one_kind
from bench_assets.workspace.materialization.opening import check_names
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.sections.servers import ServerSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillResult:
    """Outcome of one model under one condition."""

    model: str
    condition: str
    suites: str  # separated by spaces
    seconds: float
    error: str = ""  # why it is incomplete; another run continues from there


def backfill(
    bench: Workbench,
    models: Sequence[str],
    suites: Sequence[str] = (),
    conditions: Sequence[str] = ("main",),
) -> Iterator[BackfillResult]:
    """Evaluate models one after the other; yields each result as it finishes.

    Questions of all suites are updated once, first. One run evaluates a model on all suites under
    one condition, so that weights are loaded once.

    Args:
        bench: The home folder.
        models: Models of bench.toml, or encoders for tasks of encoders.
        suites: Suites or tasks; (): all suites. Ablations apply to tasks that have them.
        conditions: "main" or ablations.

    Raises:
        BenchError: If questions cannot be built or a name is unknown, before any evaluation.
    """
    suites = suites or bench.catalog.evaluable.names
    names_by_condition = {
        condition: _names_with_condition(bench, suites, condition) for condition in conditions
    }
    check_names(bench, suites, models)
    all_names = [name for names in names_by_condition.values() for name in names]
    for suite in dict.fromkeys(bench.catalog.suite(name).name for name in all_names):
        bench.refresh_questions(suite)
    for model in dict.fromkeys(models):
        for condition, names in names_by_condition.items():
            yield _evaluate_model(bench, model, names, condition)


def _names_with_condition(bench: Workbench, suites: Sequence[str], condition: str) -> list[str]:
    """Names of the suites; for an ablation, of their tasks that have it."""
    tasks = [task for suite in suites for task in bench.catalog.tasks_of(suite)]
    if condition == "main":
        return list(suites)
    names = [task.name for task in tasks if condition in task.conditions]
    if not names:
        conditions = {name for task in tasks for name in task.conditions}
        raise UnknownNameError("condition", condition, conditions)
    return names


def _evaluate_model(
    bench: Workbench, model: str, suites: Sequence[str], condition: str
) -> BackfillResult:
    """Evaluate a model on suites, those of encoders separately; errors are in the result."""
    started_at, errors = monotonic(), list[str]()
    suites_by_kind: dict[str, list[str]] = {}
    for suite in suites:
        tasks = tasks_of_one_kind(bench.catalog.tasks_of(suite))
        suites_by_kind.setdefault(tasks[0].asked_of, []).append(suite)
    for names in suites_by_kind.values():
        try:
            bench.evaluate(names, model, condition)
        except BenchError as error:
            errors.append(str(error))
    return BackfillResult(
        model=model,
        condition=condition,
        suites=" ".join(suites),
        seconds=round(monotonic() - started_at, 1),
        error="; ".join(errors),
    )


def build_questions(bench: Workbench, suite: str) -> tuple[list[str], list[BenchError]]:
    """Build a suite's questions; if that fails, those of each task that can be built.

    Returns:
        The suite, or the tasks whose questions were built; and all errors.

    Raises:
        BenchError: If no task can be built, or the home cannot be used.
    """
    try:
        bench.refresh_questions(suite)
    except HomeError:
        raise  # the tasks share the home, and would fail as well
    except BenchError as error:
        suite_error = error
    else:
        return [suite], []
    return _build_by_task(bench, suite, suite_error)


def _build_by_task(
    bench: Workbench, suite: str, suite_error: BenchError
) -> tuple[list[str], list[BenchError]]:
    """Build each task's questions; returns names and all errors; raises if none is built."""
    built_names, failures = [], [suite_error]
    for task in bench.catalog.tasks_of(suite):
        try:
            bench.refresh_questions(task.name)
        except HomeError:
            raise
        except BenchError as error:
            failures.append(error)
        else:
            if bench.tables.exists(questions_key(task, "main")):  # the source may lack the task
                built_names.append(task.name)
    if not built_names:  # the errors of the tasks repeat that of the suite
        for message in rejection_messages(bench, suite):
            suite_error.add_note(message)
        raise suite_error
    return built_names, failures


def rejection_messages(
    bench: Workbench, suite: str, conditions: Iterable[str] = ("main",)
) -> list[str]:
    """Format each table's number of rejected source rows; none of a mini edition."""
    messages: dict[str, str] = {}
    for task, condition in itertools.product(bench.catalog.tasks_of(suite), conditions):
        if condition not in task.conditions:
            continue
        edition = describe_questions(bench.tables, task).edition
        for table, rows in read_rejections(bench.tables, task, edition, condition).items():
            if rows:
                count = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
                messages[table] = (
                    f"{task.name}: {count} of the source rejected, "
                    f"the first: {rows[0].entry}: {rows[0].reason}. "
                    f"List them: bench tables show {table}"
                )
    return list(messages.values())


def outcome_messages(
    bench: Workbench, suite: str, model: str, condition: str = "main"
) -> list[str]:
    """Format what is irregular in a model's responses, task by task."""
    messages = []
    for task in bench.catalog.tasks_of(suite):
        key = evaluation_key(task, condition, "metrics")
        rows = bench.tables.read(key, Metric, model) if bench.tables.exists(key, model) else []
        overall = next((row for row in rows if row.category == "all"), None)
        if overall:
            messages += [f"{task.name}: {outcome}" for outcome in _outcomes(bench, task, overall)]
    return messages


def _outcomes(bench: Workbench, task: Task, metric: Metric) -> Iterator[str]:
    key = evaluation_key(task, metric.condition, "scores")
    scores = bench.tables.read(key, Score, metric.model)
    if scores and all(score.points is None for score in scores):
        yield f"no response was scored: {scores[0].error or scores[0].note}"
    if metric.n_refused == 1:
        yield "1 question was permanently refused and counts as wrong"
    elif metric.n_refused:
        yield f"{metric.n_refused} questions were permanently refused and count as wrong"
    if format_mixed(metric.signature) or _is_another_model(bench, metric):
        yield f"answered by {metric.served}"


def _is_another_model(bench: Workbench, metric: Metric) -> bool:
    """Whether the server reports a model other than the requested one or a version of it."""
    try:
        spec = bench.model(metric.model).spec
    except BenchError:
        return False
    from bench_resources.models.api.formats.response_body import is_model_version

    name, _, _ = metric.served.partition(" ")
    if not isinstance(spec, ServerSpec) or spec.serve:  # a server of ours has no other model
        return False
    return bool(name) and not is_model_version(name, spec.model)
