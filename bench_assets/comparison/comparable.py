"""Which evaluations can be compared; a verdict is given on no others.

The report's page compares the same parts in ``compare/differences.js``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from shlex import quote
from typing import NamedTuple

from bench_assets.comparison.causes import (
    DECODING,
    JUDGE,
    PROMPT,
    SCORER,
    VERSION,
    signature_by_cause,
)
from bench_assets.comparison.verdicts import NOT_COMPARABLE, Comparison, compare_scores
from bench_assets.core.judging.second_look import is_reader, reader_setting, split_judges
from bench_assets.core.schema.elicitation import GENERATE, split_signature
from bench_assets.core.schema.metric_text import format_percent, is_hidden, unread_bounds
from bench_assets.core.schema.rows import Metric, Question, Score
from bench_assets.core.schema.signature import Signature
from bench_assets.core.schema.training_runs import parse_step
from bench_assets.evaluation.task import RULES, Task

CONDITION, ELICITATION, READER = "condition", "elicitation", "reader"
QUESTIONS, N = "questions", "number of questions"

_OPTIONAL = (JUDGE, READER, DECODING)
_OPTIONS = {JUDGE: "--judge", READER: "--reader", SCORER: "--scorer"}


class Side(NamedTuple):
    """An evaluation of a task: its scores, and its metrics over all questions and each slice."""

    scores: Sequence[Score]
    metrics: Sequence[Metric]


def incomparable_causes(before: Metric, after: Metric) -> list[str]:
    """Causes, other than the models, why two numbers may differ; [] if they are comparable.

    Raises:
        TableError: If a signature is invalid.
    """
    old, new = compared_parts(before), compared_parts(after)
    causes = [cause for cause, part in old.items() if cause in new and new[cause] != part]
    implied = {N, PROMPT} if QUESTIONS in causes else set()
    return [cause for cause in causes if cause not in implied]


def compared_parts(metric: Metric) -> dict[str, str]:
    """What two numbers must have in common, by cause; a cause that one lacks is not compared.

    The judge is absent if no verdict was needed, the reader if rules read everything, the decoding
    unless the model is a checkpoint: other models have a decoding of their own.
    """
    parts = signature_by_cause(Signature.parse(metric.signature))
    judges = split_judges(parts.get(JUDGE, ""))
    readers = [reader_setting(name) for name in judges if is_reader(name)]
    if metric.unread and not readers:
        readers = [RULES]
    _, elicitation = split_signature(parts[DECODING])
    values = {
        QUESTIONS: metric.questions,
        N: parts.get("n", ""),
        CONDITION: parts[CONDITION],
        PROMPT: parts.get(PROMPT, ""),
        JUDGE: "+".join(name for name in judges if not is_reader(name)),
        READER: "+".join(readers),
        SCORER: parts.get(SCORER, ""),
        VERSION: parts[VERSION],
        ELICITATION: str(elicitation or GENERATE),
        DECODING: parts[DECODING] if parse_step(metric.model) else "",
    }
    return {cause: value for cause, value in values.items() if value or cause not in _OPTIONAL}


def compare_sides(
    task: Task, questions: Sequence[Question], before: Side, after: Side, *, slices: bool = True
) -> list[Comparison]:
    """Compare two evaluations by the primary metric, see ``compare_scores``.

    Returns:
        Undecided effects, or one row with the causes why the evaluations are not comparable; empty
        without metrics or scores.

    Raises:
        TableError: If a signature is invalid.
    """
    old, new = _primary_metrics(task, before), _primary_metrics(task, after)
    if not ("all" in old and "all" in new and before.scores and after.scores):
        return []
    old_whole, new_whole = old["all"], new["all"]
    if causes := incomparable_causes(old_whole, new_whole):
        return [_incomparable_row(task, old_whole, new_whole, causes)]
    effects = compare_scores(task, questions, before.scores, after.scores, slices=slices)
    return [
        _doubt_if_unread(
            task, effect, old.get(effect.category, old_whole), new.get(effect.category, new_whole)
        )
        for effect in effects
    ]


def _primary_metrics(task: Task, side: Side) -> dict[str, Metric]:
    return {row.category: row for row in side.metrics if row.metric == task.primary_metric}


def _incomparable_row(
    task: Task, before: Metric, after: Metric, causes: Sequence[str]
) -> Comparison:
    """Build the row of two evaluations that are not comparable, with a command that helps.

    No command helps if the conditions or the elicitations differ.
    """
    parts = compared_parts(after)
    options = [_option(cause, parts[cause]) for cause in causes if cause in _OPTIONS]
    command = evaluation_command(task, dict.fromkeys((before.model, after.model)), after.condition)
    return Comparison(
        task=task.display_title,
        against=before.model,
        metric=task.primary_metric,
        category="all",
        before=before.value,
        after=after.value,
        verdict=NOT_COMPARABLE,
        reason=f"other {', '.join(causes)}",
        remedy="" if {CONDITION, ELICITATION} & {*causes} else " ".join([command, *options]),
    )


def _option(cause: str, setting: str) -> str:
    """The option of ``bench evaluate`` for a setting; of joined names, the first model's."""
    names = sorted({*split_judges(setting)} - {RULES})
    return f"{_OPTIONS[cause]} {names[0] if names else RULES}"


def _doubt_if_unread(task: Task, effect: Comparison, before: Metric, after: Metric) -> Comparison:
    """Leave an effect undecided if the bounds of a value with unread responses reach the other."""
    old_low, old_high = unread_bounds(before) or (before.value, before.value)
    new_low, new_high = unread_bounds(after) or (after.value, after.value)
    has_hidden = is_hidden(before) or is_hidden(after)
    if old_high < new_low or new_high < old_low or not has_hidden:
        return effect
    least_read = max((before, after), key=lambda row: row.unread or 0.0)
    unread = format_percent(least_read.unread)
    reason = f"{unread} of the responses of {least_read.model} are unread"
    command = evaluation_command(task, [least_read.model], least_read.condition)
    return replace(effect, reason=reason, remedy=f"{command} --reader MODEL")


def evaluation_command(task: Task, models: Iterable[str], condition: str) -> str:
    """The command that evaluates models on a task under a condition."""
    options = [f"--model {quote(name)}" for name in models]
    if condition != "main":
        options.append(f"--condition {condition}")
    return " ".join(["bench evaluate", task.name, *options])
