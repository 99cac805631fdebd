"""Statistical power of a task's questions, from evaluated models or, without any, assumptions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice, pairwise
from math import ceil, isnan, nan
from statistics import median
from typing import NamedTuple

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.comparison.verdicts import fully_scored_by_question
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Question, Score
from bench_assets.core.stats.clusters import cluster_questions
from bench_assets.core.stats.paired_tests import PairedScores, change_variance
from bench_assets.core.stats.power import (
    design_effect,
    detectable_difference,
    detection_power,
    required_sample_size,
    unpaired_variance,
)
from bench_assets.evaluation.task import ScoredQuestion, Task
from bench_assets.evaluation.units import ScoredMetric, metric_pairs
from bench_assets.workspace.materialization.workbench import Workbench

_ASSUMED_CORRELATION = 0.3  # correlation of questions of a cluster, without evaluated models
_SAME_QUESTIONS, _OTHER_QUESTIONS = "on the same questions", "on other questions"
_MAX_MODELS = 8  # models whose neighbours in rank are compared; enough for a median


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerEstimate:
    """Detectable difference of two models on a task, for one kind of comparison."""

    task: str
    metric: str
    compared: str  # "on the same questions", or "on other questions"
    basis: str  # source of the variance
    questions: int
    units: int  # of the metric: questions, pairs, key points, ...
    clusters: int | None  # of questions that share images or a group; None: unknown
    baseline: float
    smallest: float  # difference detected with a power of 0.8; NaN: unknown or none
    difference: float | None = None  # requested difference
    power: float | None = None  # probability that these questions detect it
    needed: int | None = None  # questions that detect it with a power of 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class _TaskSize:
    questions: int
    units: int
    clusters: int | None
    effect: float  # design effect of the clusters
    basis: str


class _Spread(NamedTuple):
    """Spread of the difference of two models in one kind of comparison."""

    variance: float  # per unit; NaN: unknown
    baseline: float
    basis: str


def estimate_power(
    bench: Workbench, suite: str, difference: float | None, baseline: float
) -> list[PowerEstimate]:
    """Estimate each task's detectable difference, and the questions that ``difference`` needs.

    ``baseline`` is the value assumed for both models where fewer than two are evaluated.

    Raises:
        UnknownNameError: If there is no such suite or task.
    """
    return [
        row
        for task in bench.catalog.tasks_of(suite)
        for row in _estimates(bench, task, difference, baseline)
    ]


def _estimates(
    bench: Workbench, task: Task, difference: float | None, baseline: float
) -> Iterator[PowerEstimate]:
    """Estimate a task in each kind of comparison: by evaluated models, else by assumptions."""
    questions = _read_questions(bench, task)
    size = _task_size(task, questions)
    spreads = _measured_spreads(bench, task, questions) if questions else {}
    for compared, spread in (spreads or _assumed_spreads(task, size, baseline)).items():
        smallest, basis = detectable_difference(spread.variance, size.units), spread.basis
        if smallest > 1 and task.primary_metric not in task.adds:  # shares differ by 1 at most
            smallest, basis = nan, f"too few questions for any difference: {basis}"
        row = PowerEstimate(
            task=task.name,
            metric=task.primary_metric,
            compared=compared,
            basis=basis,
            questions=size.questions,
            units=size.units,
            clusters=size.clusters,
            baseline=spread.baseline,
            smallest=smallest,
        )
        if difference is None or isnan(spread.variance):
            yield row
        else:
            yield _with_required_size(row, spread.variance, difference)


def _assumed_spreads(task: Task, size: _TaskSize, baseline: float) -> Mapping[str, _Spread]:
    """Spreads of two models near a baseline; unknown without questions, or for a corpus metric."""
    if not size.questions or task.primary_metric in task.adds:
        basis = f"{size.basis}; evaluate two models first"
        return {_SAME_QUESTIONS: _Spread(variance=nan, baseline=baseline, basis=basis)}
    variance = unpaired_variance(baseline) * size.effect
    worst_basis = f"{size.basis}; at worst, no model seen"
    return {
        _SAME_QUESTIONS: _Spread(variance=variance, baseline=baseline, basis=worst_basis),
        _OTHER_QUESTIONS: _Spread(variance=variance, baseline=baseline, basis=size.basis),
    }


def _with_required_size(row: PowerEstimate, variance: float, difference: float) -> PowerEstimate:
    n = required_sample_size(variance, difference)
    return replace(
        row,
        difference=difference,
        power=detection_power(variance, row.units, difference),
        needed=ceil(n * row.questions / row.units),
    )


def _read_questions(bench: Workbench, task: Task) -> list[Question]:
    """Read a task's question table; [] if it is missing or damaged."""
    key = questions_key(task, "main")
    try:
        return bench.tables.read(key, Question) if bench.tables.exists(key) else []
    except TableError:
        return []


def _task_size(task: Task, questions: Sequence[Question]) -> _TaskSize:
    """Count questions, units and clusters; without a question table, by the paper's count."""
    if not questions:
        n = task.counts.get("all", 0)
        origin = "the paper's count" if n else "no questions yet"
        basis = f"{origin}; bench tables questions {task.suite} builds the table"
        return _TaskSize(questions=n, units=max(1, n), clusters=None, effect=1.0, basis=basis)
    clusters = cluster_questions(questions)
    n_units = _count_units(task, questions)
    sizes = Counter(clusters.values())
    units_per_question = n_units / len(questions)
    effect = design_effect(
        [max(1.0, size * units_per_question) for size in sizes.values()], _ASSUMED_CORRELATION
    )
    basis = f"the question table; those of a cluster correlate {_ASSUMED_CORRELATION}"
    return _TaskSize(
        questions=len(questions), units=n_units, clusters=len(sizes), effect=effect, basis=basis
    )


def _count_units(task: Task, questions: Sequence[Question]) -> int:
    """Number of units of the primary metric, counted on questions without points."""
    blank = [
        ScoredQuestion(q, Score(question_id=q.question_id, model="", condition="main", points=None))
        for q in questions
    ]
    return max(1, task.measures[task.primary_metric](blank).n_unscored)


def _measured_spreads(
    bench: Workbench, task: Task, questions: Sequence[Question]
) -> Mapping[str, _Spread]:
    """Measure the spreads between neighbours on the leaderboard; {} if too few models."""
    some_models = islice(_scored_models(bench, task, questions), _MAX_MODELS)
    models = sorted(some_models, key=lambda model: model.value)
    if len(models) < 2:
        return {}
    measure, clusters = task.measures[task.primary_metric], cluster_questions(questions)
    adds = task.adds.get(task.primary_metric)
    n_units = _count_units(task, questions)
    paired = [
        metric_pairs(measure, before, after, clusters, adds) for before, after in pairwise(models)
    ]
    # on other questions, both models vary independently: twice the variance of one of them
    single = [[pair._replace(before=0.0) for pair in pairs] for pairs in paired]
    baseline = median(model.value for model in models)
    basis = f"{len(models)} models' responses"
    same_variance = _median_variance(paired, n_units)
    other_variance = 2 * _median_variance(single, n_units)
    return {
        _SAME_QUESTIONS: _Spread(variance=same_variance, baseline=baseline, basis=basis),
        _OTHER_QUESTIONS: _Spread(variance=other_variance, baseline=baseline, basis=basis),
    }


def _median_variance(comparisons: Sequence[Sequence[PairedScores]], n_units: int) -> float:
    return median(change_variance(pairs) * n_units / len(pairs) for pairs in comparisons)


def _scored_models(
    bench: Workbench, task: Task, questions: Sequence[Question]
) -> Iterator[ScoredMetric]:
    """Yield the models with readable points for every question, in a fixed order."""
    key = evaluation_key(task, "main", "scores")
    measure = task.measures[task.primary_metric]
    question_ids = {question.question_id for question in questions}
    order = sorted(bench.tables.partitions(key), key=lambda name: sha256(name.encode()).digest())
    for model in order:
        try:
            by_question = fully_scored_by_question(bench.tables.read(key, Score, model))
        except TableError:
            continue
        if by_question.keys() != question_ids:
            continue
        rows = [ScoredQuestion(q, score) for q in questions for score in by_question[q.question_id]]
        value = measure(rows).value
        if not isnan(value):
            yield ScoredMetric(rows, value)
