"""Whether a model is better or worse than another by a task's primary metric, slice by slice."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isnan
from typing import Literal, NamedTuple, TypeAlias

from bench_assets.comparison.units import ScoredMetric, metric_pairs
from bench_assets.core.schema.rows import Question, Score
from bench_assets.core.stats.paired_tests import (
    Outcome,
    PairedScores,
    clusters_of,
    compare,
    holm,
    interval,
    questions_enough,
)
from bench_assets.evaluation.task import Measure, ScoredQuestion, Task

Verdict: TypeAlias = Literal["better", "worse", "no difference shown", "not enough questions"]

ALPHA = 0.05
"""Chance that any of the slices of one comparison is called better or worse while none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A model against another one: the primary metric over one slice of a task."""

    against: str
    metric: str
    category: str  # "all", or the slice of the questions it is over
    verdict: Verdict
    before: float  # the metric, over the questions that both have points for
    after: float
    low: float  # 95 % interval of the difference, of this slice alone
    high: float
    p: float  # corrected for all slices of the comparison
    test: str
    n: int  # questions that both have points for
    n_enough: int | None  # questions that would show the smallest change; None: one was shown
    lost: tuple[str, ...]  # questions that have fewer points now
    gained: tuple[str, ...]

    @property
    def change(self) -> float:
        """What the metric gained."""
        return self.after - self.before


class _Slice(NamedTuple):
    before: ScoredMetric
    after: ScoredMetric


def comparisons(
    task: Task,
    questions: Sequence[Question],
    before: Sequence[Score],
    after: Sequence[Score],
    smallest_change: float,
) -> list[Comparison]:
    """Compare two models by the primary metric, over all questions and over each slice.

    Both are measured on the questions that both have points for, paired as ``units`` has it.
    Questions of one group, and those that show the same images, are one cluster.

    The p-values are corrected for the number of slices by Holm's method. Where no difference is
    shown, ``smallest_change`` says whether there were questions enough to see one.
    """
    measure = task.measures[task.primary_metric]
    slices = _measured(measure, _slices(task, questions, before, after))
    if not slices:
        return []
    clusters = clusters_of(questions)
    adds = task.adds.get(task.primary_metric)
    pairs = {name: metric_pairs(measure, *part, clusters, adds) for name, part in slices.items()}
    outcomes = {name: compare(of_slice) for name, of_slice in pairs.items()}
    corrected = holm([outcome.p for outcome in outcomes.values()])
    return [
        _comparison(
            part,
            pairs[name],
            Outcome(outcomes[name].test, p),
            metric=task.primary_metric,
            category=name,
            against=before[0].model,
            smallest=smallest_change,
            alpha=ALPHA / len(slices),
        )
        for (name, part), p in zip(slices.items(), corrected, strict=True)
    ]


def _comparison(  # noqa: PLR0913  (a column each)
    part: _Slice,
    pairs: Sequence[PairedScores],
    outcome: Outcome,
    *,
    metric: str,
    category: str,
    against: str,
    smallest: float,
    alpha: float,
) -> Comparison:
    old, new = (side.value for side in part)
    low, high = interval(pairs)
    shares, shares_now = (_shares(side.scored) for side in part)
    n = len(shares)
    n_enough = ceil(questions_enough(pairs, smallest, alpha) * n / len(pairs))
    verdict = _verdict(outcome.p, new - old, n >= n_enough)
    return Comparison(
        against=against,
        metric=metric,
        category=category,
        verdict=verdict,
        before=old,
        after=new,
        low=low,
        high=high,
        p=outcome.p,
        test=outcome.test,
        n=n,
        n_enough=None if verdict in ("better", "worse") else n_enough,
        lost=tuple(name for name in shares if shares_now[name] < shares[name]),
        gained=tuple(name for name in shares if shares_now[name] > shares[name]),
    )


def _verdict(p: float, gained: float, enough: bool) -> Verdict:
    if p < ALPHA and gained:
        return "better" if gained > 0 else "worse"
    return "no difference shown" if enough else "not enough questions"


def _measured(
    measure: Measure, slices: Mapping[str, tuple[list[ScoredQuestion], list[ScoredQuestion]]]
) -> dict[str, _Slice]:
    """Measure both sides of each slice; without those where one has no value."""
    return {
        category: part
        for category, scored in slices.items()
        for part in (_Slice(*(ScoredMetric(one, measure(one).value) for one in scored)),)
        if not any(isnan(side.value) for side in part)
    }


def _slices(
    task: Task, questions: Sequence[Question], before: Sequence[Score], after: Sequence[Score]
) -> dict[str, tuple[list[ScoredQuestion], list[ScoredQuestion]]]:
    """The scores of each slice, in the order of the questions."""
    old, new = by_question(before), by_question(after)
    slices: dict[str, tuple[list[ScoredQuestion], list[ScoredQuestion]]] = defaultdict(
        lambda: ([], [])
    )
    for question in questions:
        name = question.question_id
        if name in old and name in new:
            for category in dict.fromkeys(("all", *task.slices(question))):
                for scores, side in zip((old, new), slices[category], strict=True):
                    side.extend(ScoredQuestion(question, score) for score in scores[name])
    return dict(slices)


def by_question(scores: Sequence[Score]) -> dict[str, list[Score]]:
    """The scores of each question; those of which one is without points are left out."""
    given: dict[str, list[Score]] = defaultdict(list)
    for score in scores:
        given[score.question_id].append(score)
    return {
        name: of_one
        for name, of_one in given.items()
        if of_one[0].max_points and all(score.points is not None for score in of_one)
    }


def _shares(scored: Sequence[ScoredQuestion]) -> Mapping[str, float]:
    """Points of each question, over its draws."""
    points: dict[str, float] = defaultdict(float)
    draws: dict[str, int] = defaultdict(int)
    for question, score in scored:
        points[question.question_id] += score.points or 0.0
        draws[question.question_id] += 1
    return {name: points[name] / draws[name] for name in points}
