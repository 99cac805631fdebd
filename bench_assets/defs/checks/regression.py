"""Whether a checkpoint got worse: than the one before it in its run, and than a chosen baseline."""

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import evaluation_key, questions_key
from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.comparison.paired_comparisons import Comparison, comparisons
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric, Question, Score
from bench_assets.core.schema.signature import Signature
from bench_assets.core.text.escaping import as_text
from bench_assets.defs.checks.staleness import CurrentConfiguration
from bench_assets.defs.report_links import linked
from bench_assets.evaluation.task import Task
from resources.config.bench_toml import Settings
from resources.config.settings_resource import SettingsResource
from resources.tables.parquet import TableFiles

_COMPARED = ("data", "prompts", "reading", "n")  # parts of a signature
_CHECKPOINT = re.compile(
    r"(?P<run>(?:.*/)?)(?P<step>[^/]+(?=@)|step-\d+)(?:@[0-9a-f]{8,40})?"  # one may go unnamed
)
_NAMED = 3  # questions that a message names


def regression_checks(task: Task, condition: str = "main") -> list[dg.AssetChecksDefinition]:
    """Build the check on the metrics of a task that is asked of models; else none."""
    return [_no_regression(task, condition)] if task.asked_of == "model" else []


def compared_with(
    model: str, models: Collection[str], written: Callable[[str], float], baseline: str
) -> list[str]:
    """Models that a checkpoint is compared with: its predecessor in the run, and the baseline.

    Steps are ordered by the numbers in their names. Where a step was overwritten, the weights that
    were evaluated last count. A model of bench.toml that is called ``run/step-100`` counts too;
    what is no checkpoint has no predecessor.

    >>> models = {"r/s-900@bbbbbbbb": 1.0, "r/s-100@cccccccc": 2.0}
    >>> compared_with("r/s-1000@aaaaaaaa", models, models.__getitem__, "")
    ['r/s-900@bbbbbbbb']

    Args:
        model: A partition key.
        models: Every model that has metrics.
        written: Says when they were written; asked of one step that several models are.
        baseline: A model, or "".
    """
    earlier = [other for other in models if _is_before(other, model)]
    step = max(map(_step, earlier), default=[])
    last = [other for other in earlier if _step(other) == step]
    before = max(last, key=written) if len(last) > 1 else "".join(last)
    others = dict.fromkeys((before, baseline if baseline in models else ""))
    return [other for other in others if other not in ("", model)]


def not_comparable(before: Sequence[Metric], after: Sequence[Metric]) -> str:
    """Say what keeps two models from being compared: other questions, prompts, reading or judge.

    A judge that was not needed ("none") fits every other.
    """
    old, new = (_compared(rows) for rows in (before, after))
    differs = [part for part in ("task", *_COMPARED) if old.get(part) != new.get(part)]
    judges = {old.get("judge", "none"), new.get("judge", "none")} - {"none"}
    return ", ".join([*differs, *(["judge"] if len(judges) > 1 else [])])


def _compared(metrics: Sequence[Metric]) -> dict[str, str]:
    if not metrics:
        return {}
    signature = Signature.parse(metrics[0].signature)
    return {**signature.parts, "task": f"{signature.task} v{signature.version}"}


def _no_regression(task: Task, condition: str) -> dg.AssetChecksDefinition:
    metrics_key = evaluation_key(task, condition, "metrics")

    @dg.asset_check(
        asset=metrics_key,
        partitions_def=MODELS,
        description=(
            f"{task.primary_metric}, over all questions and over each slice, is not significantly "
            "worse than that of the checkpoint before it in its run, or than the baseline's; see "
            "[checkpoints] of bench.toml."
        ),
    )
    def no_regression(
        settings: SettingsResource,
        tables: TableFiles,
        metrics: list[Metric],
    ) -> dg.AssetCheckResult:
        model = metrics[0].model if metrics else ""
        loaded = settings.load()
        chosen = loaded.checkpoints
        models, written = tables.partitions(metrics_key), partial(tables.written, metrics_key)
        lines: list[Comparison] = []
        notes: list[str] = []
        for other in compared_with(model, models, written, chosen.baseline):
            found = _against(other, task, condition, metrics, tables, loaded)
            if isinstance(found, str):
                notes.append(f"not comparable with {other}: {found}")
            else:
                lines += found
        result = _result(lines, notes, dg.AssetCheckSeverity[chosen.severity])
        lost = [name for line in lines if line.verdict == "worse" for name in line.lost]
        return linked(result, task, condition, model, lost)

    return no_regression


def _against(
    other: str,
    task: Task,
    condition: str,
    metrics: Sequence[Metric],
    tables: TableFiles,
    settings: Settings,
) -> list[Comparison] | str:
    """Compare a model that has metrics with another, slice by slice; or say why it cannot be."""
    scores_key = evaluation_key(task, condition, "scores")
    try:
        their = tables.read(evaluation_key(task, condition, "metrics"), Metric, other)
        before = tables.read(scores_key, Score, other)
    except TableError as unreadable:
        return str(unreadable)
    differs = not_comparable(their, metrics)
    if (
        why := f"other {differs}"
        if differs
        else CurrentConfiguration(settings).why_stale(task, their[0])
    ):
        return f"{why}; evaluate it again"
    # Read here, not as inputs: most models have nothing that they are compared with.
    questions = tables.read(questions_key(task, condition), Question)
    after = tables.read(scores_key, Score, metrics[0].model)
    return comparisons(task, questions, before, after, settings.checkpoints.smallest_change)


def _result(
    lines: Sequence[Comparison], notes: Sequence[str], severity: dg.AssetCheckSeverity
) -> dg.AssetCheckResult:
    worse = [line for line in lines if line.verdict == "worse"]
    table = [
        "| against | questions | metric | before | after | difference | 95 % interval | verdict "
        "| p | test | n | enough | lost | gained |",
        "|---" * 14 + "|",
        *(_line(line) for line in sorted(lines, key=lambda line: line.verdict != "worse")),
    ]
    return dg.AssetCheckResult(
        passed=not worse,
        severity=severity,
        description=_found(lines, worse, notes),
        metadata={"comparisons": dg.MetadataValue.md("\n".join(table))} if lines else {},
    )


def _found(lines: Sequence[Comparison], worse: Sequence[Comparison], notes: Sequence[str]) -> str:
    if worse or notes:
        return "; ".join([*map(_sentence, worse), *notes])
    if not lines:
        return "nothing to compare with: no step before it in its run, and no other baseline"
    overall = [line for line in lines if line.category == "all"]
    return "; ".join(["no metric is worse", *map(_sentence, overall)])


def _line(line: Comparison) -> str:
    enough = "" if line.n_enough is None else line.n_enough
    return (
        f"| {line.against} | {as_text(line.category)} | {line.metric} | {line.before:.3f} "
        f"| {line.after:.3f} | {line.change:+.3f} | {line.low:+.3f} to {line.high:+.3f} "
        f"| {line.verdict} | {line.p:.4f} | {line.test} | {line.n} | {enough} "
        f"| {_named(line.lost)} | {_named(line.gained)} |"
    )


def _sentence(line: Comparison) -> str:
    """What got worse, and the first questions that lost points."""
    slice_ = "" if line.category == "all" else f" of {as_text(line.category)}"
    lost = f", {len(line.lost)} questions lost: {', '.join(map(as_text, line.lost[:_NAMED]))}"
    return (
        f"{line.metric}{slice_}: {line.before:.3f} to {line.after:.3f}, {line.change:+.3f}"
        f" ({line.low:+.3f} to {line.high:+.3f}) against {line.against}"
        + (lost + (" ..." if len(line.lost) > _NAMED else "") if line.lost else "")
    )


def _named(questions: Sequence[str]) -> str:
    first = ", ".join(as_text(one) for one in questions[:_NAMED])
    return f"{len(questions)}: {first}" if questions else "0"


def _is_before(other: str, model: str) -> bool:
    a, b = _CHECKPOINT.fullmatch(other), _CHECKPOINT.fullmatch(model)
    return bool(a and b and a["run"] == b["run"] and _step(other) < _step(model))


def _step(model: str) -> list[tuple[int, str]]:
    """Order steps as people do: ``step-900`` comes before ``step-1000``."""
    matched = _CHECKPOINT.fullmatch(model)
    parts = re.split(r"(\d+)", matched["step"] if matched else "")
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
