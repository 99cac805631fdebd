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
        settings: dg.ResourceParam[Settings], tables: TableFiles, metrics: list[Metric]
    ) -> dg.AssetCheckResult:
        model = metrics[0].model if metrics else ""
        checkpoints = settings.checkpoints
        models, written = tables.partitions(metrics_key), partial(tables.written, metrics_key)
        references = comparison_models(model, models, written, checkpoints.baseline)
        comparisons: list[Comparison] = []
        notes: list[str] = []
        for reference in references:
            compared = _compare_with(reference, task, metrics, tables, settings)
            if isinstance(compared, str):
                notes.append(f"not comparable with {reference}: {compared}")
            else:
                comparisons += compared
        n_tasks = max((n_measured(tables, tasks, name) for name in references), default=1)
        alpha = run_alpha(model, models, n_tasks)
        lines = decide(comparisons, alpha, checkpoints.smallest_change)
        result = _result(lines, notes, dg.AssetCheckSeverity[checkpoints.severity])
        by_people = [corrected_difference(tables, task, name, model) for name in references]
        description = "; ".join(filter(None, [result.description, *by_people]))
        result = result._replace(description=description)
        lost = [name for line in lines if line.verdict == "worse" for name in line.lost]
        return link_questions(result, task, "main", model, lost)

    return no_regression


def _compare_with(
    reference: str, task: Task, metrics: Sequence[Metric], tables: TableFiles, settings: Settings
) -> list[Comparison] | str:
    """Compare a model with another, slice by slice, or return why that is impossible."""
    try:
        old_metrics = tables.read(evaluation_key(task, "main", "metrics"), Metric, reference)
        comparisons = compare_models(tables, task, reference, metrics[0].model)
        stale = ""
        if old_metrics:
            stale = CurrentConfiguration(settings).stale_reason(task, old_metrics[0], tables)
    except TableError as error:
        return str(error)
    for line in comparisons:
        if line.verdict == NOT_COMPARABLE:
            return f"{line.reason}; {line.remedy}"
    return f"{stale}; evaluate it again" if stale else comparisons


def _result(
    lines: Sequence[Comparison], notes: Sequence[str], severity: dg.AssetCheckSeverity
) -> dg.AssetCheckResult:
    """The result of the check: it fails if a metric is worse, with a table of all comparisons."""
    worse = [line for line in lines if line.verdict == "worse"]
    table = [
        "| against | slice | metric | before | after | difference | 95 % interval | verdict "
        "| p | n | questions | shows | enough | lost | gained |",
        "|---" * 15 + "|",
        *(_table_row(line) for line in sorted(lines, key=lambda line: line.verdict != "worse")),
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
    """Describe the worse metrics and the notes; without any, the overall comparison."""
    if worse or notes:
        return "; ".join([*map(_sentence, worse), *notes])
    if not lines:
        return "nothing to compare with: no earlier step in its run, and no other baseline"
    sentences = ["no metric is worse"]
    overall = [line for line in lines if line.category == "all"]
    if overall:
        power = f"a change of {overall[0].shows:.3f} is detected with a power of 80 %"
        sentences += [*map(_sentence, overall), power]
    return "; ".join(sentences)


def _table_row(line: Comparison) -> str:
    enough = "" if line.n_enough is None else line.n_enough
    return (
        f"| {line.against} | {escape_markdown(line.category)} | {line.metric} | {line.before:.3f} "
        f"| {line.after:.3f} | {line.change:+.3f} | {line.interval} "
        f"| {line.verdict} | {format_p(line.p)} | {line.n} | {line.n_questions} | {line.shows:.3f} "
        f"| {enough} | {_format_names(line.lost)} | {_format_names(line.gained)} |"
    )


def _sentence(line: Comparison) -> str:
    """Describe the change of a metric, and the first questions that lost points."""
    category = "" if line.category == "all" else f" of {escape_markdown(line.category)}"
    sentence = (
        f"{line.metric}{category}: {line.before:.3f} to {line.after:.3f}, {line.change:+.3f}"
        f" ({line.interval}) against {line.against}"
    )
    if line.lost:
        questions = ", ".join(map(escape_markdown, line.lost[:_MAX_NAMED]))
        ellipsis = " ..." if len(line.lost) > _MAX_NAMED else ""
        sentence += f", {len(line.lost)} questions lost: {questions}{ellipsis}"
    if line.reason:
        sentence += f"; {line.shown_verdict}: {line.remedy}"
    return sentence


def _format_names(questions: Sequence[str]) -> str:
    """Format the number of questions, and the names of the first ones."""
    if not questions:
        return "0"
    return f"{len(questions)}: {', '.join(map(escape_markdown, questions[:_MAX_NAMED]))}"
