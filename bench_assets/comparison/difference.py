"""Decomposition of a score change by cause.

Effects add up to the whole difference. Questions with points in only one evaluation, because they
were removed or a response failed, are taken out first and put in last. In between, the questions
with points in both are turned from the first evaluation into the second, one cause after the other
in the order of ``STAGES``: these effects add up to the paired change, on which the verdict is
based. Questions of one unit of the metric, such as a pair, share their causes. If the metric is not
a mean of units, another order could split the difference differently.

The report's page has the same arithmetic in ``compare-causes.js``, for any two models.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan

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

    Parts of the signatures that differ but changed no points have a row too.

    Args:
        task: The task, whose metrics are computed over all questions of both.
        before: One evaluation.
        after: The other.
        metric: "": the primary one.
    """
    steps = _Decomposition(task, metric or task.primary_metric, before, after)
    rows = [steps.whole(), *steps.walk(), *steps.unexplained()]
    parts = {part for row in rows for part in row.cause.split(SEPARATOR)}
    moved = signature_difference(before.signature_parts, after.signature_parts)
    if before.answered and after.answered:
        # Digests of questions and prompts differ if one of them does, which has a row already.
        news = {part for part, pair in moved.items() if "none" not in pair} - parts
        unmoved = [part for part in _SETTINGS if part in news]
        return [*rows, *(steps.row(part, [], 0.0) for part in unmoved)]
    return [*rows, *(steps.row(part, [], None) for part in moved if part != "n")]


def signature_difference(
    before: Mapping[str, str], after: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Differing parts of two signatures, with both values.

    >>> signature_difference({"model": "a", "n": "5"}, {"model": "b", "n": "5"})
    {'model': ('a', 'b')}
    """
    pairs = {part: (before.get(part, ""), after.get(part, "")) for part in {**before, **after}}
    return {part: pair for part, pair in pairs.items() if pair[0] != pair[1]}


class _Decomposition:
    """Steps from one evaluation to the other, with the metric after each."""

    def __init__(
        self, task: Task, metric: str, before: EvaluationTables, after: EvaluationTables
    ) -> None:
        self._task, self._metric = task, metric
        self._sides = before, after
        self._old, self._new = before.answered, after.answered
        self._measure = task.measures[self._metric]
        self._both = {
            name
            for name, old in self._old.items()
            if name in self._new and (old.share is None) == (self._new[name].share is None)
        }

    def whole(self) -> Cause:
        names = [name for name in self._old if name in self._new]
        values = [
            self._value(side.answered) if side.answered else side.written(self._metric)
            for side in self._sides
        ]
        before, after = (_shown(v, s) for v, s in zip(values, self._sides, strict=True))
        return replace(self.row(TOTAL, names, _subtract_known(*values)), before=before, after=after)

    def walk(self) -> Iterator[Cause]:
        if not (self._old and self._new):  # only the signatures are known
            return
        causes = self._merge_by_unit(self._causes())
        concerned = {
            REMOVED: [name for name in self._old if name not in self._new],
            **{
                cause: [name for name, name_cause in causes.items() if name_cause == cause]
                for cause in sorted(set(causes.values()) - {""}, key=_pipeline_order)
            },
            ADDED: [name for name in self._new if name not in self._old],
        }
        concerned = {cause: names for cause, names in concerned.items() if names}
        effects = self._effects(concerned)
        if len(effects) == 1:
            effects = dict.fromkeys(
                effects, _subtract_known(self._value(self._old), self._value(self._new))
            )
        for cause, names in concerned.items():
            yield self.row(cause, names, effects[cause])

    def _effects(self, concerned: Mapping[str, Sequence[str]]) -> dict[str, float | None]:
        """Effect of each cause, summed over taking out, changing and putting in questions."""
        mixed = dict(self._old)
        effects: dict[str, float | None] = dict.fromkeys(concerned, 0.0)
        value = self._value(mixed)
        for phase in ("out", "paired", "in"):
            for cause, names in concerned.items():
                affected = [name for name in names if (name in self._both) == (phase == "paired")]
                for name in affected:
                    mixed.pop(name, None)
                if phase != "out":
                    mixed |= {name: self._new[name] for name in affected if name in self._new}
                reached = self._value(mixed) if affected else value
                effects[cause] = _add_known(
                    effects[cause], _subtract_known(value, reached) if affected else 0.0
                )
                value = reached
        return effects

    def unexplained(self) -> Iterator[Cause]:
        """Stored metrics that do not follow from the present scores."""
        written = [side.written(self._metric) for side in self._sides]
        difference = _subtract_known(*written)
        moved = _subtract_known(self._value(self._old), self._value(self._new))
        if difference is not None and moved is not None and abs(difference - moved) > _TOLERANCE:
            before, after = (f"{value:.4f} in the table" for value in written)
            yield replace(self.row(REST, [], difference - moved), before=before, after=after)

    def row(self, cause: str, names: Sequence[str], effect: float | None) -> Cause:
        both_sides = [name for name in names if name in self._old and name in self._new]
        gains = {
            name: _subtract_known(self._old[name].share, self._new[name].share) or 0
            for name in both_sides
        }
        moved = sorted((name for name in both_sides if gains[name]), key=gains.__getitem__)
        before, after = self._format_values(cause, both_sides)
        examples = names if cause in (REMOVED, ADDED) else moved
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
        joint = dict(causes)
        if not (self._old.keys() == self._new.keys() == self._both):
            return joint
        before, after = (
            ScoredMetric(rows, self._measure(rows).value)
            for rows in (_scored(self._old), _scored(self._new))
        )
        clusters = cluster_questions([answered.question for answered in self._old.values()])
        adds = self._task.adds.get(self._metric)
        kind, pairs = keyed_pairs(self._measure, before, after, clusters, adds)
        members = _members(self._old, clusters, by_category=kind == "categories")
        for unit in pairs if kind in ("pairs", "clusters", "categories") else ():
            changed = [name for name in members.get(unit, ()) if causes[name]]
            parts = {part for name in changed for part in causes[name].split(SEPARATOR)}
            joint |= dict.fromkeys(
                changed, SEPARATOR.join(part for part in STAGES if part in parts)
            )
        return joint

    def _value(self, answered: Mapping[str, QuestionRecord]) -> float | None:
        scored = _scored(answered)
        return _none_if_nan(self._measure(scored).value) if scored else None

    def _format_values(self, cause: str, both: Sequence[str]) -> tuple[str, str]:
        """Both signatures' values for a cause; for changed questions, the changed fields."""
        parts = cause.split(SEPARATOR)
        before, after = (
            ", ".join(
                side.signature_parts[part] for part in parts if side.signature_parts.get(part)
            )
            for side in self._sides
        )
        if QUESTION_CHANGED in parts:
            pairs = [(self._old[name].question, self._new[name].question) for name in both]
            changed = dict.fromkeys(field for pair in pairs for field in changed_fields(*pair))
            after = ", ".join(filter(None, [f"other {' and '.join(changed)}", after]))
        return before, after


def _pipeline_order(cause: str) -> list[int]:
    return [STAGES.index(part) for part in cause.split(SEPARATOR)]


def _members(
    answered: Mapping[str, QuestionRecord], clusters: Mapping[str, str], *, by_category: bool
) -> dict[tuple[str, str], list[str]]:
    """Questions of each unit, by the keys of ``Units``: category, and question, pair or cluster."""
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, row in answered.items():
        category = row.question.category if by_category else ""
        members[category, clusters[name]].append(name)
        members[category, pair_key(row.question)].append(name)
        members[category, name] = [name]
    return members


def _scored(answered: Mapping[str, QuestionRecord]) -> list[ScoredQuestion]:
    return [
        ScoredQuestion(row.question, score) for row in answered.values() for score in row.scores
    ]


def _none_if_nan(value: float) -> float | None:
    return None if isnan(value) else value


def _add_known(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _subtract_known(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _shown(value: float | None, side: EvaluationTables) -> str:
    return f"{side.name}: {'no value' if value is None else f'{value:.4f}'}"
