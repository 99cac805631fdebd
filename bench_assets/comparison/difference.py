"""Decomposition of a score change by cause.

Effects add up to the whole difference. Questions with points in only one evaluation, because they
were removed or a response failed, are taken out first and put in last. In between, the questions
with points in both are turned from the first evaluation into the second, one cause after the other
in the order of ``STAGES``: these effects add up to the paired change, on which the verdict is
based. Questions of one unit of the metric, such as a pair, share their causes. If the metric is not
a mean of units, another order could split the difference differently.

The report's page has the same arithmetic in ``compare/causes.js``, for any two models.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

from bench_assets.comparison.causes import (
    DECODING,
    JUDGE,
    MODEL,
    QUESTION_CHANGED,
    REST,
    SCORER,
    SEPARATOR,
    STAGES,
    VERSION,
    EvaluationTables,
    QuestionRecord,
    changed_fields,
    find_causes,
)
from bench_assets.core.stats.clusters import cluster_questions, pair_key
from bench_assets.evaluation.task import ScoredQuestion, Task
from bench_assets.evaluation.units import ScoredMetric, keyed_pairs

TOTAL, REMOVED, ADDED = "in all", "questions removed", "questions added"

_EXAMPLES = 5  # questions that are printed
_TOLERANCE = 1e-9  # rounding error of a difference of 0
_SETTINGS = (MODEL, DECODING, JUDGE, SCORER, VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One cause of a difference."""

    task: str
    metric: str
    cause: str  # "in all", or what differs, such as "prompt" or "model + scorer"
    before: str
    after: str
    n: int  # affected questions
    n_better: int
    n_worse: int
    effect: float | None  # change of the metric, in its unit; None: unknown
    examples: tuple[str, ...] = ()  # questions, those that lost points first


def decompose_difference(
    task: Task, before: EvaluationTables, after: EvaluationTables, metric: str = ""
) -> list[Cause]:
    """Split the difference of a metric by cause; the first row is the total.

    Parts of the signatures that differ but changed no points have a row too. ``metric`` "" is the
    primary one.
    """
    steps = _Decomposition(task, metric or task.primary_metric, before, after)
    rows = [steps.total(), *steps.effects(), *steps.unexplained()]
    changed = signature_difference(before.signature_parts, after.signature_parts)
    if before.records and after.records:
        # Digests of questions and prompts differ if one of them does, which has a row already.
        explained = {cause for row in rows for cause in row.cause.split(SEPARATOR)}
        without_effect = [
            setting
            for setting in _SETTINGS
            if setting in changed and setting not in explained and "none" not in changed[setting]
        ]
        return [*rows, *(steps.row(setting, names=[], effect=0.0) for setting in without_effect)]
    return [*rows, *(steps.row(part, names=[], effect=None) for part in changed if part != "n")]


def signature_difference(
    before: Mapping[str, str], after: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Differing parts of two signatures, with both values.

    >>> signature_difference({"model": "a", "n": "5"}, {"model": "b", "n": "5"})
    {'model': ('a', 'b')}
    """
    return {
        part: (before.get(part, ""), after.get(part, ""))
        for part in {**before, **after}
        if before.get(part, "") != after.get(part, "")
    }


class _Decomposition:
    """Steps from one evaluation to the other, with the metric after each."""

    def __init__(
        self, task: Task, metric: str, before: EvaluationTables, after: EvaluationTables
    ) -> None:
        self._task, self._metric = task, metric
        self._sides = before, after
        self._old, self._new = before.records, after.records
        self._measure = task.measures[self._metric]
        self._paired = {  # questions with points in both, or in neither
            name
            for name, old in self._old.items()
            if name in self._new and (old.share is None) == (self._new[name].share is None)
        }

    def total(self) -> Cause:
        """Row of the whole difference; of the stored values, if there are no scores."""
        common = [name for name in self._old if name in self._new]
        old_value, new_value = (
            self._value(side.records) if side.records else side.stored_value(self._metric)
            for side in self._sides
        )
        old_side, new_side = self._sides
        return replace(
            self.row(TOTAL, common, _subtract_known(old_value, new_value)),
            before=_format_side(old_value, old_side),
            after=_format_side(new_value, new_side),
        )

    def effects(self) -> Iterator[Cause]:
        """Row of each cause that concerns any question; none without scores on both sides."""
        if not (self._old and self._new):
            return
        questions_by_cause = self._questions_by_cause()
        effects = self._sum_effects(questions_by_cause)
        if len(effects) == 1:  # not a sum of steps, which has rounding errors
            difference = _subtract_known(self._value(self._old), self._value(self._new))
            effects = dict.fromkeys(effects, difference)
        for cause, names in questions_by_cause.items():
            yield self.row(cause, names, effects[cause])

    def _questions_by_cause(self) -> dict[str, list[str]]:
        """Questions that each cause concerns, with the causes in the order of the pipeline."""
        causes = self._merge_by_unit(self._causes())
        by_cause = {REMOVED: [name for name in self._old if name not in self._new]}
        for cause in sorted(set(causes.values()) - {""}, key=_pipeline_order):
            by_cause[cause] = [name for name in causes if causes[name] == cause]
        by_cause[ADDED] = [name for name in self._new if name not in self._old]
        return {cause: names for cause, names in by_cause.items() if names}

    def _sum_effects(self, by_cause: Mapping[str, Sequence[str]]) -> dict[str, float | None]:
        """Effect of each cause, summed over taking out, changing and putting in questions."""
        mixed = dict(self._old)
        effects: dict[str, float | None] = dict.fromkeys(by_cause, 0.0)
        value = self._value(mixed)
        for phase in ("out", "paired", "in"):
            for cause, names in by_cause.items():
                affected = [name for name in names if (name in self._paired) == (phase == "paired")]
                if not affected:
                    continue
                for name in affected:
                    mixed.pop(name, None)
                if phase != "out":
                    mixed |= {name: self._new[name] for name in affected if name in self._new}
                new_value = self._value(mixed)
                effects[cause] = _add_known(effects[cause], _subtract_known(value, new_value))
                value = new_value
        return effects

    def unexplained(self) -> Iterator[Cause]:
        """Row of a difference of the stored metrics that does not follow from the scores."""
        old_stored, new_stored = (side.stored_value(self._metric) for side in self._sides)
        stored_change = _subtract_known(old_stored, new_stored)
        change = _subtract_known(self._value(self._old), self._value(self._new))
        if stored_change is None or change is None:
            return
        if abs(stored_change - change) > _TOLERANCE:
            yield replace(
                self.row(REST, names=[], effect=stored_change - change),
                before=f"{old_stored:.4f} in the table",
                after=f"{new_stored:.4f} in the table",
            )

    def row(self, cause: str, names: Sequence[str], effect: float | None) -> Cause:
        """Build the row of a cause that concerns these questions."""
        common = [name for name in names if name in self._old and name in self._new]
        gains = {
            name: _subtract_known(self._old[name].share, self._new[name].share) or 0
            for name in common
        }
        changed = sorted((name for name in common if gains[name]), key=gains.__getitem__)
        before, after = self._format_values(cause, common)
        examples = names if cause in (REMOVED, ADDED) else changed
        return Cause(
            task=self._task.name,
            metric=self._metric,
            cause=cause,
            before=before,
            after=after,
            n=len(names),
            n_better=sum(gain > 0 for gain in gains.values()),
            n_worse=sum(gain < 0 for gain in gains.values()),
            effect=effect,
            examples=tuple(examples[:_EXAMPLES]),
        )

    def _causes(self) -> dict[str, str]:
        """Causes of each question that both have, in the order of the first evaluation."""
        versions = {side.signature_parts.get(VERSION) for side in self._sides}
        return {
            name: find_causes(old, self._new[name], same_version=len(versions) == 1)
            for name, old in self._old.items()
            if name in self._new
        }

    def _merge_by_unit(self, causes: Mapping[str, str]) -> dict[str, str]:
        """Merge the causes of questions in one unit, such as a pair.

        Only where both evaluations have points for the same questions.
        """
        merged = dict(causes)
        if not (self._old.keys() == self._new.keys() == self._paired):
            return merged
        before, after = (
            ScoredMetric(rows, self._measure(rows).value)
            for rows in (_scored(self._old), _scored(self._new))
        )
        clusters = cluster_questions([record.question for record in self._old.values()])
        adds = self._task.adds.get(self._metric)
        kind, pairs = keyed_pairs(self._measure, before, after, clusters, adds)
        if kind not in ("pairs", "clusters", "categories"):
            return merged
        members = _unit_members(self._old, clusters, by_category=kind == "categories")
        for unit in pairs:
            changed = [name for name in members.get(unit, ()) if causes[name]]
            parts = {part for name in changed for part in causes[name].split(SEPARATOR)}
            unit_cause = SEPARATOR.join(part for part in STAGES if part in parts)
            merged |= dict.fromkeys(changed, unit_cause)
        return merged

    def _value(self, records: Mapping[str, QuestionRecord]) -> float | None:
        """The metric over questions; None if it has no value."""
        scored = _scored(records)
        value = self._measure(scored).value if scored else nan
        return None if isnan(value) else value

    def _format_values(self, cause: str, common: Sequence[str]) -> tuple[str, str]:
        """Both signatures' values for a cause; for changed questions, the changed fields."""
        parts = cause.split(SEPARATOR)
        before, after = (
            ", ".join(filter(None, (side.signature_parts.get(part) for part in parts)))
            for side in self._sides
        )
        if QUESTION_CHANGED in parts:
            changed: dict[str, None] = {}
            for name in common:
                fields = changed_fields(self._old[name].question, self._new[name].question)
                changed |= dict.fromkeys(fields)
            other_fields = f"other {' and '.join(changed)}"
            after = f"{other_fields}, {after}" if after else other_fields
        return before, after


def _pipeline_order(cause: str) -> list[int]:
    return [STAGES.index(part) for part in cause.split(SEPARATOR)]


def _unit_members(
    records: Mapping[str, QuestionRecord], clusters: Mapping[str, str], *, by_category: bool
) -> dict[tuple[str, str], list[str]]:
    """Questions of each unit, by the keys of ``Units``: category, and question, pair or cluster."""
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, record in records.items():
        category = record.question.category if by_category else ""
        members[category, clusters[name]].append(name)
        members[category, pair_key(record.question)].append(name)
        members[category, name] = [name]
    return members


def _scored(records: Mapping[str, QuestionRecord]) -> list[ScoredQuestion]:
    rows = records.values()
    return [ScoredQuestion(row.question, score) for row in rows for score in row.scores]


def _add_known(value: float | None, change: float | None) -> float | None:
    """Sum of two numbers; None if one is unknown."""
    return None if value is None or change is None else value + change


def _subtract_known(before: float | None, after: float | None) -> float | None:
    """Change from one number to another; None if one is unknown."""
    return None if before is None or after is None else after - before


def _format_side(value: float | None, side: EvaluationTables) -> str:
    value_text = "no value" if value is None else f"{value:.4f}"
    return f"{side.name}: {value_text}"
