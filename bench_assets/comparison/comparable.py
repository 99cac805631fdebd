"""Which evaluations can be compared: a verdict is given on no others, wherever it is said.

The report's page compares the same parts in ``compare-pairs.js``.
"""

from collections.abc import Sequence
from dataclasses import replace
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
from bench_assets.core.judging.second_look import is_reader, reader_setting
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


def comparable(before: Metric, after: Metric) -> list[str]:
    """Causes beside the models why two numbers may differ; no verdict is given if there are any.

    Raises:
        TableError: If a signature is invalid.
    """
    old, new = compared_parts(before), compared_parts(after)
    causes = [cause for cause, part in old.items() if cause in new and new[cause] != part]
    implied = {N, PROMPT} if QUESTIONS in causes else set()
    return [cause for cause in causes if cause not in implied]


def compared_parts(metric: Metric) -> dict[str, str]:
    """What two numbers must have in common, by cause; absent causes fit everything.

    No judge, if no verdict was needed, fits any judge, and no reader any reader, if nothing is
    unread. A model has its own decoding; checkpoints must share theirs.
    """
    parts = signature_by_cause(Signature.parse(metric.signature))
    judges = [name for name in parts.get(JUDGE, "").split("+") if name not in ("", "none")]
    readers = [reader_setting(name) for name in judges if is_reader(name)]
    known = {
        QUESTIONS: metric.questions,
        N: parts.get("n", ""),
        CONDITION: parts[CONDITION],
        PROMPT: parts.get(PROMPT, ""),
        JUDGE: "+".join(name for name in judges if not is_reader(name)),
        READER: "+".join(readers or [RULES] * bool(metric.unread)),
        SCORER: parts.get(SCORER, ""),
        VERSION: parts[VERSION],
        ELICITATION: str(split_signature(parts[DECODING])[1] or GENERATE),
        DECODING: parts[DECODING] if parse_step(metric.model) else "",
    }
    return {cause: part for cause, part in known.items() if part or cause not in _OPTIONAL}


def compare_sides(
    task: Task, questions: Sequence[Question], before: Side, after: Side, *, slices: bool = True
) -> list[Comparison]:
    """Compare two evaluations by the primary metric, see ``compare_scores``.

    Returns:
        Undecided effects, or the causes why there are none; empty without metrics or scores.

    Raises:
        TableError: If a signature is invalid.
    """
    old, new = (
        {row.category: row for row in side.metrics if row.metric == task.primary_metric}
        for side in (before, after)
    )
    if not ("all" in old and "all" in new and before.scores and after.scores):
        return []
    if causes := comparable(old["all"], new["all"]):
        return [_refuse(task, old["all"], new["all"], causes)]
    return [
        _doubt(task, effect, [rows.get(effect.category, rows["all"]) for rows in (old, new)])
        for effect in compare_scores(task, questions, before.scores, after.scores, slices=slices)
    ]


def _refuse(task: Task, before: Metric, after: Metric, causes: Sequence[str]) -> Comparison:
    parts = compared_parts(after)
    names = {cause: {*parts[cause].split("+")} - {RULES} for cause in causes if cause in _OPTIONS}
    options = "".join(f" {_OPTIONS[cause]} {min(of or {RULES})}" for cause, of in names.items())
    return Comparison(
        task=task.display_title,
        against=before.model,
        metric=task.primary_metric,
        category="all",
        before=before.value,
        after=after.value,
        verdict=NOT_COMPARABLE,
        reason=f"other {', '.join(causes)}",
        remedy="" if CONDITION in causes else f"{_command(task, before, after)}{options}",
    )


def _doubt(task: Task, effect: Comparison, sides: Sequence[Metric]) -> Comparison:
    """Leave an effect undecided if the bounds of a value with unread responses reach the other."""
    old, new = (unread_bounds(side) or (side.value, side.value) for side in sides)
    if old[1] < new[0] or new[1] < old[0] or not any(map(is_hidden, sides)):
        return effect
    most = max(sides, key=lambda side: side.unread or 0.0)
    reason = f"{format_percent(most.unread)} of the responses of {most.model} are unread"
    return replace(effect, reason=reason, remedy=f"{_command(task, most)} --reader MODEL")


def _command(task: Task, *rows: Metric) -> str:
    models = "".join(f" --model {name}" for name in dict.fromkeys(row.model for row in rows))
    condition = rows[0].condition
    return f"bench evaluate {task.name}{models}" + f" --condition {condition}" * (
        condition != "main"
    )
