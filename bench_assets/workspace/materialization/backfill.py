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

    Questions of all suites are updated once, first. One run evaluates all suites of a model, so
    that weights are loaded once.

    Args:
        bench: The home folder.
        models: Models of bench.toml, or encoders for tasks of encoders.
        suites: Suites or tasks; (): all suites. Ablations apply to tasks that have them.
        conditions: "main" or ablations.

    Raises:
        BenchError: If a source cannot be used or a name is unknown, before any request.
    """
    wanted = {
        condition: _suites_with_condition(bench, suites or bench.catalog.evaluable.names, condition)
        for condition in conditions
    }
    check_names(bench, suites or bench.catalog.evaluable.names, models)
    both_sides = dict.fromkeys(name for names in wanted.values() for name in names)
    for suite in dict.fromkeys(bench.catalog.suite(name).name for name in both_sides):
        bench.refresh_questions(suite)
    for model in dict.fromkeys(models):
        for condition, names in wanted.items():
            yield _evaluate_model(bench, model, names, condition)


def _suites_with_condition(bench: Workbench, suites: Sequence[str], condition: str) -> list[str]:
    """The suites; for an ablation, their tasks that have it."""
    tasks = [task for suite in suites for task in bench.catalog.tasks_of(suite)]
    if condition == "main":
        return list(suites)
    having = [task.name for task in tasks if condition in task.conditions]
    if not having:
        known = {name for task in tasks for name in task.conditions}
        raise UnknownNameError("condition", condition, known)
    return having


def _evaluate_model(
    bench: Workbench, model: str, suites: Sequence[str], condition: str
) -> BackfillResult:
    started, errors = monotonic(), list[str]()
    of_kind: dict[str, list[str]] = {}
    for suite in suites:
        tasks = tasks_of_one_kind(bench.catalog.tasks_of(suite))
        of_kind.setdefault(tasks[0].asked_of, []).append(suite)
    for names in of_kind.values():
        try:
            bench.evaluate(names, model, condition)
        except BenchError as exc:
            errors.append(str(exc))
    return BackfillResult(
        model=model,
        condition=condition,
        suites=" ".join(suites),
        seconds=round(monotonic() - started, 1),
        error="; ".join(errors),
    )


def build_questions(bench: Workbench, suite: str) -> tuple[list[str], list[BenchError]]:
    """Build a suite's questions; if that fails, those of each task that can be built.

    Returns:
        The suite, or the tasks whose questions were built; and the errors of the others.

    Raises:
        BenchError: If no task can be built, or the home cannot be used.
    """
    try:
        bench.refresh_questions(suite)
    except HomeError:
        raise  # the tasks share the home, and would fail as well
    except BenchError as error:
        failures = [error]
    else:
        return [suite], []
    built = []
    for task in bench.catalog.tasks_of(suite):
        try:
            bench.refresh_questions(task.name)
        except BenchError as error:
            failures.append(error)
        else:
            has_questions = bench.tables.exists(questions_key(task, "main"))
            built += [task.name] if has_questions else []
    if not built:
        raise _with_notes(failures[0], rejection_messages(bench, suite))
    return built, failures


def _with_notes(error: BenchError, notes: Iterable[str]) -> BenchError:
    for note in notes:
        error.add_note(note)
    return error


def rejection_messages(
    bench: Workbench, suite: str, conditions: Iterable[str] = ("main",)
) -> list[str]:
    """Format the number of rejected source rows of each task, with the first reason."""
    messages: dict[str, str] = {}
    for task, condition in itertools.product(bench.catalog.tasks_of(suite), conditions):
        known = condition in task.conditions
        left_out = read_rejections(bench.tables, task, "", condition) if known else {}
        for table, rows in left_out.items():
            # the mini edition has some on purpose
            if rows and describe_questions(bench.tables, task).edition != "mini":
                messages[table] = (
                    f"{task.name}: {len(rows)} row{'s'[: len(rows) != 1]} of the source rejected, "
                    f"the first: {rows[0].entry}: {rows[0].reason}. "
                    f"List them: bench tables show {table}"
                )
    return list(messages.values())


def outcome_messages(
    bench: Workbench, suite: str, model: str, condition: str = "main"
) -> list[str]:
    """Format each task's irregular outcomes: unscored, refused or mixed responses."""
    messages = []
    for task in bench.catalog.tasks_of(suite):
        key = evaluation_key(task, condition, "metrics")
        rows = bench.tables.read(key, Metric, model) if bench.tables.exists(key, model) else []
        if first := next((row for row in rows if row.category == "all"), None):
            messages += [f"{task.name}: {outcome}" for outcome in _outcomes(bench, task, first)]
    return messages


def _outcomes(bench: Workbench, task: Task, row: Metric) -> Iterator[str]:
    scores = evaluation_key(task, row.condition, "scores")
    rows = bench.tables.read(scores, Score, row.model)
    if rows and all(row.points is None for row in rows):
        yield f"no response was scored: {rows[0].note}"
    if row.n_refused:
        yield f"{row.n_refused} questions were refused for good and count as wrong"
    if format_mixed(row.signature) or _is_other_model(bench, row):
        yield f"answered by {row.served}"


def _is_other_model(bench: Workbench, row: Metric) -> bool:
    """Whether the server reports a model other than the requested one or a version of it."""
    try:
        spec = bench.model(row.model).spec
    except BenchError:
        return False
    from bench_resources.models.api.formats.response_body import is_model_version

    name = row.served.partition(" ")[0]
    if not isinstance(spec, ServerSpec) or spec.serve:  # a server of ours has no other model
        return False
    return bool(name) and not is_model_version(name, spec.model)
