"""Regression checks: a checkpoint against its predecessor, and against a chosen baseline."""

from collections.abc import Sequence
from functools import partial

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import evaluation_key
from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.comparison.people_checks import corrected_difference
from bench_assets.comparison.runs import compare_models, n_measured, run_alpha
from bench_assets.comparison.verdicts import NOT_COMPARABLE, Comparison, decide
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.metric_text import format_p
from bench_assets.core.schema.rows import Metric
from bench_assets.core.schema.training_runs import comparison_models
from bench_assets.core.text.escaping import escape_markdown
from bench_assets.defs.checks.staleness import CurrentConfiguration
from bench_assets.defs.report_links import link_questions
from bench_assets.evaluation.task import Task
from bench_resources.config.bench_toml import Settings
from bench_resources.tables.parquet import TableFiles

_MAX_NAMED = 3  # questions that a message names


def regression_checks(task: Task, *tasks: Task) -> list[dg.AssetChecksDefinition]:
    """Build the regression check of a task, if it evaluates models.

    ``tasks`` are all tasks of the home, which share the error budget of a run.
    """
    return [_regression_check(task, tasks)] if task.asked_of == "model" else []


def _regression_check(task: Task, tasks: Sequence[Task]) -> dg.AssetChecksDefinition:
    metrics_key = evaluation_key(task, "main", "metrics")

    @dg.asset_check(
        asset=metrics_key,
        partitions_def=MODELS,
        description=(
            f"{task.primary_metric}, over all questions and over each slice, is not significantly "
            "worse than that of the checkpoint before it in its run, or than the baseline's. All "
            "steps and tasks of a run share 5 % of false alarms; see [checkpoints] of bench.toml."
        ),
    )
    def no_regression(
        settings: dg.ResourceParam[Settings],
        tables: TableFiles,
        metrics: list[Metric],
    ) -> dg.AssetCheckResult:
        model = metrics[0].model if metrics else ""
        chosen = settings.checkpoints
        models, written = tables.partitions(metrics_key), partial(tables.written, metrics_key)
        effects: list[Comparison] = []
        notes: list[str] = []
        others = comparison_models(model, models, written, chosen.baseline)
        for other in others:
            regression = _compare_with(other, task, metrics, tables, settings)
            if isinstance(regression, str):
                notes.append(f"not comparable with {other}: {regression}")
            else:
                effects += regression
        n_tasks = max((n_measured(tables, tasks, other) for other in others), default=1)
        alpha = run_alpha(model, models, n_tasks)
        lines = decide(effects, alpha, chosen.smallest_change)
        result = _result(lines, notes, dg.AssetCheckSeverity[chosen.severity])
        by_people = [corrected_difference(tables, task, other, model) for other in others]
        described = "; ".join(filter(None, [result.description, *by_people]))
        result = result._replace(description=described)
        lost = [name for line in lines if line.verdict == "worse" for name in line.lost]
        return link_questions(result, task, "main", model, lost)

    return no_regression


def _compare_with(
    other: str,
    task: Task,
    metrics: Sequence[Metric],
    tables: TableFiles,
    settings: Settings,
) -> list[Comparison] | str:
    """Compare a model with another, slice by slice; a text is the reason why that is impossible."""
    try:
        their = tables.read(evaluation_key(task, "main", "metrics"), Metric, other)
        effects = compare_models(tables, task, other, metrics[0].model)
        refused = [line for line in effects if line.verdict == NOT_COMPARABLE]
        stale = CurrentConfiguration(settings).stale_reason(task, their[0], tables) if their else ""
        if refused:
            return f"{refused[0].reason}; {refused[0].remedy}"
        return f"{stale}; evaluate it again" if stale else effects
    except TableError as unreadable:
        return str(unreadable)


def _result(
    lines: Sequence[Comparison], notes: Sequence[str], severity: dg.AssetCheckSeverity
) -> dg.AssetCheckResult:
    worse = [line for line in lines if line.verdict == "worse"]
    table = [
        "| against | slice | metric | before | after | difference | 95 % interval | verdict "
        "| p | n | questions | shows | enough | lost | gained |",
        "|---" * 15 + "|",
        *(_line(line) for line in sorted(lines, key=lambda line: line.verdict != "worse")),
    ]
    return dg.AssetCheckResult(
        passed=not worse,
        severity=severity,
        description=_summarise(lines, worse, notes),
        metadata={"comparisons": dg.MetadataValue.md("\n".join(table))} if lines else {},
    )


def _summarise(
    lines: Sequence[Comparison], worse: Sequence[Comparison], notes: Sequence[str]
) -> str:
    if worse or notes:
        return "; ".join([*map(_sentence, worse), *notes])
    if not lines:
        return "nothing to compare with: no earlier step in its run, and no other baseline"
    overall = [line for line in lines if line.category == "all"]
    power = [
        f"a change of {line.shows:.3f} is detected with a power of 80 %" for line in overall[:1]
    ]
    return "; ".join(["no metric is worse", *map(_sentence, overall), *power])


def _line(line: Comparison) -> str:
    enough = "" if line.n_enough is None else line.n_enough
    return (
        f"| {line.against} | {escape_markdown(line.category)} | {line.metric} | {line.before:.3f} "
        f"| {line.after:.3f} | {line.change:+.3f} | {line.interval} "
        f"| {line.verdict} | {format_p(line.p)} | {line.n} | {line.n_questions} | {line.shows:.3f} "
        f"| {enough} | {_format_names(line.lost)} | {_format_names(line.gained)} |"
    )


def _sentence(line: Comparison) -> str:
    """Describe the change of a metric, and the first questions that lost points."""
    slice_ = "" if line.category == "all" else f" of {escape_markdown(line.category)}"
    metrics = ", ".join(map(escape_markdown, line.lost[:_MAX_NAMED]))
    lost = f", {len(line.lost)} questions lost: {metrics}"
    return (
        f"{line.metric}{slice_}: {line.before:.3f} to {line.after:.3f}, {line.change:+.3f}"
        f" ({line.interval}) against {line.against}"
        + (lost + (" ..." if len(line.lost) > _MAX_NAMED else "") if line.lost else "")
        + (f"; {line.shown_verdict}: {line.remedy}" if line.reason else "")
    )


def _format_names(questions: Sequence[str]) -> str:
    first = ", ".join(escape_markdown(question) for question in questions[:_MAX_NAMED])
    return f"{len(questions)}: {first}" if questions else "0"
