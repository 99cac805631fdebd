"""Decomposition of a score change by cause.

Effects add up to the whole difference: the first evaluation is turned into the second one cause
after the other, in the order in which they happen, and the metric is taken after each step. Where
it is no mean of its questions, another order could part the difference otherwise.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan

from bench_assets.comparison.causes import (
    APART,
    CHANGED,
    DECODING,
    JUDGE,
    MODEL,
    READING,
    REST,
    STAGES,
    VERSION,
    QuestionRecord,
    Side,
    cause_of,
    changed_fields,
)
from bench_assets.evaluation.task import ScoredQuestion, Task

IN_ALL, REMOVED, ADDED = "in all", "questions removed", "questions added"

_EXAMPLES = 5
_SAME = 1e-9  # what floating point leaves of no difference
_SETTINGS = (MODEL, DECODING, JUDGE, READING, VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One cause of a difference."""

    task: str
    metric: str
    cause: str  # "in all", or what differs, such as "prompt" or "model + reading"
    before: str
    after: str
    n: int  # questions that it concerns
    n_better: int
    n_worse: int
    effect: float | None  # what it did to the metric, in its unit; None: cannot be said
    examples: tuple[str, ...] = ()  # questions, those that lost points first


def difference(task: Task, before: Side, after: Side, metric: str = "") -> list[Cause]:
    """Split the difference of a metric by cause; the first row is the total.

    Parts of the signatures that differ but changed no points have a row too.

    Args:
        task: Its measures are taken of both, all over all questions.
        before: One evaluation.
        after: The other.
        metric: "": the primary one.
    """
    steps = _Steps(task, metric or task.primary_metric, before, after)
    rows = [steps.whole(), *steps.walk(), *steps.otherwise_measured()]
    named = {part for row in rows for part in row.cause.split(APART)}
    moved = signature_difference(before.spelled, after.spelled)
    if before.answered and after.answered:
        # Digests of all questions and prompts differ where one does, and that is said already.
        news = {part for part, pair in moved.items() if "none" not in pair} - named
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


class _Steps:
    """The way from one evaluation to the other, measured after every step."""

    def __init__(self, task: Task, metric: str, before: Side, after: Side) -> None:
        self._task, self._metric = task, metric
        self._sides = before, after
        self._old, self._new = before.answered, after.answered

    def whole(self) -> Cause:
        both = [name for name in self._old if name in self._new]
        values = [
            self._value(side.answered) if side.answered else side.written(self._metric)
            for side in self._sides
        ]
        before, after = (_shown(v, s) for v, s in zip(values, self._sides, strict=True))
        return replace(self.row(IN_ALL, both, _minus(*values)), before=before, after=after)

    def walk(self) -> Iterator[Cause]:
        if not (self._old and self._new):  # only what their signatures say is known
            return
        removed = [name for name in self._old if name not in self._new]
        added = [name for name in self._new if name not in self._old]
        mixed = dict(self._old)
        value = self._value(mixed)
        steps = [(REMOVED, removed), *self._causes().items(), (ADDED, added)]
        for cause, names in steps:
            for name in names:
                mixed.pop(name, None)
            mixed |= {name: self._new[name] for name in names if name in self._new}
            reached = self._value(mixed)
            if names:
                yield self.row(cause, names, _minus(value, reached))
            value = reached

    def otherwise_measured(self) -> Iterator[Cause]:
        """Metrics in the tables that the present scores do not give."""
        written = [side.written(self._metric) for side in self._sides]
        apart = _minus(*written)
        moved = _minus(self._value(self._old), self._value(self._new))
        if apart is not None and moved is not None and abs(apart - moved) > _SAME:
            before, after = (f"{value:.4f} in the table" for value in written)
            yield replace(self.row(REST, [], apart - moved), before=before, after=after)

    def row(self, cause: str, names: Sequence[str], effect: float | None) -> Cause:
        both = [name for name in names if name in self._old and name in self._new]
        gains = {name: _minus(self._old[name].share, self._new[name].share) or 0 for name in both}
        moved = sorted((name for name in both if gains[name]), key=gains.__getitem__)
        before, after = self._said_of(cause, both)
        shown = names if cause in (REMOVED, ADDED) else moved
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
            examples=tuple(shown[:_EXAMPLES]),
        )

    def _causes(self) -> dict[str, list[str]]:
        """Questions that both have, by what differs; in the order in which it happens."""
        versions = {side.spelled.get(VERSION) for side in self._sides}
        found: dict[str, list[str]] = defaultdict(list)
        for name in self._old.keys() & self._new.keys():
            why = cause_of(self._old[name], self._new[name], same_version=len(versions) == 1)
            found[why].append(name)
        found.pop("", None)
        order = sorted(found, key=lambda cause: [STAGES.index(p) for p in cause.split(APART)])
        asked = {name: n for n, name in enumerate(self._old)}
        return {cause: sorted(found[cause], key=asked.__getitem__) for cause in order}

    def _value(self, answered: Mapping[str, QuestionRecord]) -> float | None:
        scored = [
            ScoredQuestion(one.question, score) for one in answered.values() for score in one.scores
        ]
        return _known(self._task.measures[self._metric](scored).value) if scored else None

    def _said_of(self, cause: str, both: Sequence[str]) -> tuple[str, str]:
        """Both signatures' values for a cause; for changed questions, the changed fields."""
        parts = cause.split(APART)
        before, after = (
            ", ".join(side.spelled[part] for part in parts if side.spelled.get(part))
            for side in self._sides
        )
        if CHANGED in parts:
            pairs = [(self._old[name].question, self._new[name].question) for name in both]
            changed = dict.fromkeys(field for pair in pairs for field in changed_fields(*pair))
            after = ", ".join(filter(None, [f"other {' and '.join(changed)}", after]))
        return before, after


def _known(value: float) -> float | None:
    return None if isnan(value) else value


def _minus(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _shown(value: float | None, side: Side) -> str:
    return f"{side.name}: {'no value' if value is None else f'{value:.4f}'}"
