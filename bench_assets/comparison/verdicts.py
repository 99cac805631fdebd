"""Verdicts on two models: better, worse or undecided, by paired tests over the units of a metric.

The regression check, the terminal, sensors and ``bench tables diff`` use this module; the report's
pages use the same formulas in ``compare/differences.js``. ``compare_scores`` computes the effect on
each slice of a task, with its interval. ``decide`` corrects the p-values of all effects that are
tested together (Holm, 1979): effects below 5 % are better or worse, all others undecided.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isnan, nan, sqrt
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias

from bench_assets.core.schema.metric_text import format_value
from bench_assets.core.schema.rows import Question, ReadValue, Score
from bench_assets.core.stats.clusters import cluster_questions
from bench_assets.core.stats.paired_tests import (
    change_interval,
    change_variance,
    holm,
    interval_text,
    paired_t_test,
)
from bench_assets.evaluation.aggregation import read_value
from bench_assets.evaluation.task import Measure, ScoredQuestion, Task
from bench_assets.evaluation.units import ScoredMetric, metric_pairs

Verdict: TypeAlias = Literal["better", "worse", "undecided", "not comparable"]

NOT_COMPARABLE: Literal["not comparable"] = "not comparable"
"""In place of a verdict, where more than the model differs; see ``incomparable_causes``."""

ALPHA = 0.05
"""Family-wise error rate of effects that are decided together."""

_POWER = 0.8  # power with which the smallest shown change is detected


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A model against another one: the primary metric over one slice of a task."""

    task: str  # its title
    against: str  # the other model
    metric: str
    category: str  # "all", or a slice of the questions
    before: float  # the metric, over the questions with points in both
    after: float
    low: float = -inf  # 95 % interval of the difference, of this slice alone
    high: float = inf
    p: float = nan  # two-sided; corrected for all effects decided together
    spread: float = nan  # variance of a unit's change
    n: int = 0  # units of the metric: questions, pairs, images, ...
    n_questions: int = 0  # with points in both
    lost: tuple[str, ...] = ()  # questions with fewer points than before
    gained: tuple[str, ...] = ()
    lower_is_better: bool = False
    verdict: Verdict = "undecided"
    n_enough: int | None = None  # questions to detect the smallest change; None: not computed
    before_read: ReadValue | None = None  # how the responses behind ``before`` were read
    after_read: ReadValue | None = None
    shows: float = nan  # the smallest change that is detected with 80 % power
    reason: str = ""  # why there is no verdict; "": the test decides
    remedy: str = ""  # commands that allow one

    @property
    def change(self) -> float:
        """Change of the metric."""
        return self.after - self.before

    @property
    def shown_values(self) -> tuple[str, str]:
        """Both values as text; as bounds where too many responses are unread."""
        before = self.before_read or ReadValue(self.before)
        return format_value(before), format_value(self.after_read or ReadValue(self.after))

    @property
    def shown_verdict(self) -> str:
        """The verdict with the reason why there is none."""
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict

    @property
    def interval(self) -> str:
        """The interval as text."""
        return interval_text(self.low, self.high)


class _Slice(NamedTuple):
    """The metric of both models on one slice of a task."""

    before: ScoredMetric
    after: ScoredMetric


def compare_scores(
    task: Task,
    questions: Sequence[Question],
    before: Sequence[Score],
    after: Sequence[Score],
    *,
    slices: bool = True,
) -> list[Comparison]:
    """Compare two models by the primary metric, over all questions and over each slice.

    Both are measured on their common scored questions, paired by the units of the metric; a group
    is unscored in both if the metric needs a question that is unscored in one. Questions of one
    group, or with the same images, form a cluster.

    Returns:
        Undecided effects; none for a slice without a value.
    """
    measure = task.measures[task.primary_metric]
    scored = _scored_slices(task, questions, before, after, all_slices=slices)
    measured = _measure_slices(measure, scored)
    clusters = cluster_questions(questions) if measured else {}
    return [
        _compare_slice(task, category, sides, clusters, before[0].model)
        for category, sides in measured.items()
    ]


def decide(
    effects: Iterable[Comparison], alpha: float = ALPHA, smallest_change: float | None = None
) -> list[Comparison]:
    """Decide whether each effect is better, worse or undecided, with p-values corrected together.

    The returned p-values are rescaled: whatever ``alpha`` is, an effect below 0.05 is significant.
    Rows that are not comparable stay as they are.

    Args:
        effects: All effects that are tested together: tasks, slices, baselines.
        alpha: Error budget: less than 5 % for a step of a run, see ``run_alpha``.
        smallest_change: The change for which ``n_enough`` is computed.
    """
    rows = list(effects)
    tested = [row for row in rows if row.verdict != NOT_COMPARABLE]
    quantile = NormalDist().inv_cdf
    reach = quantile(1 - alpha / max(1, len(tested)) / 2) + quantile(_POWER)
    p_values = iter(holm([row.p for row in tested]))
    decided = []
    for row in rows:
        if row.verdict == NOT_COMPARABLE:
            decided.append(row)
            continue
        p = next(p_values)
        decided.append(
            replace(
                row,
                p=min(1.0, p * ALPHA / alpha),
                verdict=_verdict(row, is_significant=p < alpha),
                shows=reach * sqrt(row.spread / row.n),
                n_enough=_required_questions(row, reach, smallest_change),
            )
        )
    return decided


def _verdict(row: Comparison, *, is_significant: bool) -> Verdict:
    if row.reason or not is_significant or not row.change:
        return "undecided"
    return "better" if (row.change > 0) != row.lower_is_better else "worse"


def _required_questions(row: Comparison, reach: float, smallest: float | None) -> int | None:
    """Questions that detect the smallest change, which is ``reach`` standard errors large."""
    if smallest is None:
        return None
    n_units = ceil(row.spread * (reach / smallest) ** 2)
    return ceil(n_units * row.n_questions / row.n)


def verdict_sentence(rows: Sequence[Comparison]) -> str:
    """Summarise decided comparisons in a sentence; ``compare/differences.js`` has it too."""
    rows_by_verdict: dict[Verdict, list[Comparison]] = defaultdict(list)
    for row in rows:
        rows_by_verdict[row.verdict].append(row)
    clauses = []
    if better := rows_by_verdict["better"]:
        clauses.append(f"better at {', '.join(map(_format_effect, better))}")
    if worse := rows_by_verdict["worse"]:
        clauses.append(f"worse at {', '.join(map(_format_effect, worse))}")
    refused = rows_by_verdict[NOT_COMPARABLE]
    if undecided := rows_by_verdict["undecided"]:
        clauses.append(_undecided_clause(undecided, len(rows) - len(refused)))
    if refused:
        clauses.append(f"{NOT_COMPARABLE} at {_format_reasons(refused)}")
    return "; ".join(clauses)


def _undecided_clause(undecided: Sequence[Comparison], n_tested: int) -> str:
    clause = f"undecided on {len(undecided)} of {n_tested} tasks"
    doubtful = [row for row in undecided if row.reason]
    if not doubtful:
        return clause
    if len(doubtful) > 1:
        return f"{clause} (too much is unread on {len(doubtful)} of them)"
    return f"{clause} ({_format_reasons(doubtful)})"


def _format_reasons(rows: Iterable[Comparison]) -> str:
    return ", ".join(f"{row.task}: {row.reason}" for row in rows)


def comparison_sentence(before: str, after: str, rows: Sequence[Comparison]) -> str:
    """The verdict on two models, as the terminal and every page of the report print it."""
    return f"{after} against {before}: {verdict_sentence(rows)}."


def _format_effect(row: Comparison) -> str:
    return f"{row.task} ({row.change:+.3f}, {row.interval})"


def _compare_slice(
    task: Task, category: str, sides: _Slice, clusters: Mapping[str, str], against: str
) -> Comparison:
    measure = task.measures[task.primary_metric]
    pairs = metric_pairs(measure, *sides, clusters, task.adds.get(task.primary_metric))
    low, high = change_interval(pairs)
    points_before, points_after = (_points_by_question(side.scored) for side in sides)
    return Comparison(
        task=task.display_title,
        against=against,
        metric=task.primary_metric,
        category=category,
        before=sides.before.value,
        after=sides.after.value,
        low=low,
        high=high,
        p=paired_t_test(pairs),
        spread=change_variance(pairs),
        n=len(pairs),
        n_questions=len(points_before),
        lost=tuple(name for name, points in points_before.items() if points_after[name] < points),
        gained=tuple(name for name, points in points_before.items() if points_after[name] > points),
        lower_is_better=task.is_lowest_best,
        before_read=read_value(task.primary_metric, measure, *sides.before),
        after_read=read_value(task.primary_metric, measure, *sides.after),
    )


def _measure_slices(
    measure: Measure, slices: Mapping[str, tuple[list[ScoredQuestion], list[ScoredQuestion]]]
) -> dict[str, _Slice]:
    """Compute the metric of both sides on each slice that has values on both."""
    measured = {}
    for category, (old, new) in slices.items():
        before = ScoredMetric(old, measure(old).value)
        after = ScoredMetric(new, measure(new).value)
        if not (isnan(before.value) or isnan(after.value)):
            measured[category] = _Slice(before, after)
    return measured


def _scored_slices(
    task: Task,
    questions: Sequence[Question],
    before: Sequence[Score],
    after: Sequence[Score],
    *,
    all_slices: bool,
) -> dict[str, tuple[list[ScoredQuestion], list[ScoredQuestion]]]:
    """Scores of both models on each slice, in the order of the questions."""
    old, new = scores_by_question(before), scores_by_question(after)
    slices: dict[str, tuple[list[ScoredQuestion], list[ScoredQuestion]]] = {}
    for question in questions:
        name = question.question_id
        old_rows, new_rows = scored_rows(question, old.get(name, []), new.get(name, []))
        if not (old_rows and new_rows):
            continue
        further_categories = task.slices(question) if all_slices else ()
        for category in dict.fromkeys(("all", *further_categories)):
            old_slice, new_slice = slices.setdefault(category, ([], []))
            old_slice.extend(old_rows)
            new_slice.extend(new_rows)
    return slices


def scored_rows(question: Question, *sides: Sequence[Score]) -> list[list[ScoredQuestion]]:
    """Scores of a question by each model; if one model is unscored, all of them are.

    Unscored rows are left out, unless the question has a group, whose metric may need it.
    """
    is_scored = all(score.points is not None for side in sides for score in side)
    if not (is_scored or question.group_id):
        return [[] for _ in sides]
    return [
        [
            ScoredQuestion(question, score if is_scored else replace(score, points=None))
            for score in side
        ]
        for side in sides
    ]


def fully_scored_by_question(scores: Sequence[Score]) -> dict[str, list[Score]]:
    """Scores by question; those with an unscored sample, or worth no points, are left out."""
    return {
        name: samples
        for name, samples in scores_by_question(scores).items()
        if all(score.points is not None for score in samples)
    }


def scores_by_question(scores: Sequence[Score]) -> dict[str, list[Score]]:
    """Scores by question; questions that are worth no points are left out."""
    by_question: dict[str, list[Score]] = defaultdict(list)
    for score in scores:
        by_question[score.question_id].append(score)
    return {name: samples for name, samples in by_question.items() if samples[0].max_points}


def _points_by_question(scored: Sequence[ScoredQuestion]) -> Mapping[str, float]:
    """Points of each scored question, averaged over samples."""
    points: dict[str, list[float]] = defaultdict(list)
    for question, score in scored:
        if score.points is not None:
            points[question.question_id].append(score.points)
    return {name: sum(samples) / len(samples) for name, samples in points.items()}
