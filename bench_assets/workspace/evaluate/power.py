"""Statistical power of a task's questions, from evaluated models or, without any, assumptions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice, pairwise
from math import ceil, isnan, nan
from statistics import median

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

_ASSUMED_CORRELATION = 0.3  # between questions of a cluster, without evaluated models
_MAX_MODELS = 8  # whose neighbours in rank are compared; enough for a median


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
    """Sample sizes of a task."""

    questions: int
    units: int
    clusters: int | None
    effect: float  # design effect of the clusters
    basis: str


def estimate_power(
    bench: Workbench, suite: str, difference: float | None, baseline: float
) -> list[PowerEstimate]:
    """Estimate each task's detectable difference, and the questions needed for a given one.

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
    questions = _read(bench, task)
    exam = _task_size(task, questions)
    spreads = _spreads(bench, task, questions) if questions else {}
    if not spreads and exam.questions and task.primary_metric not in task.adds:
        most = unpaired_variance(baseline) * exam.effect
        spreads = {
            "on the same questions": (most, baseline, f"{exam.basis}; at worst, no model seen")
        }
        spreads |= {"on other questions": (most, baseline, exam.basis)}
    unknown = (nan, baseline, f"{exam.basis}; evaluate two models first")
    for compared, (of_unit, base, basis) in (spreads or {"on the same questions": unknown}).items():
        least = detectable_difference(of_unit, exam.units)
        none = least > 1 and task.primary_metric not in task.adds  # shares differ by 1 at most
        row = PowerEstimate(
            task=task.name,
            metric=task.primary_metric,
            compared=compared,
            basis=f"{basis}; too few questions for any difference" if none else basis,
            questions=exam.questions,
            units=exam.units,
            clusters=exam.clusters,
            baseline=base,
            smallest=nan if none else least,
        )
        yield (
            row
            if difference is None or isnan(of_unit)
            else _with_required_size(row, of_unit, difference)
        )


def _with_required_size(row: PowerEstimate, of_unit: float, difference: float) -> PowerEstimate:
    n = required_sample_size(of_unit, difference)
    return replace(
        row,
        difference=difference,
        power=detection_power(of_unit, row.units, difference),
        needed=ceil(n * row.questions / row.units),
    )


def _read(bench: Workbench, task: Task) -> list[Question]:
    key = questions_key(task, "main")
    try:
        return bench.tables.read(key, Question) if bench.tables.exists(key) else []
    except TableError:
        return []


def _task_size(task: Task, questions: Sequence[Question]) -> _TaskSize:
    if not questions:
        n = task.counts.get("all", 0)
        origin = "the paper's count, each question for itself" if n else "no questions yet"
        basis = f"{origin}; bench tables questions {task.suite} builds the table"
        return _TaskSize(questions=n, units=max(1, n), clusters=None, effect=1.0, basis=basis)
    clusters = cluster_questions(questions)
    units = _units(task, questions)
    sizes = Counter(clusters.values())
    per_unit = units / len(questions)
    effect = design_effect(
        [max(1.0, size * per_unit) for size in sizes.values()], _ASSUMED_CORRELATION
    )
    basis = f"the question table; those of a cluster correlate {_ASSUMED_CORRELATION}"
    return _TaskSize(
        questions=len(questions), units=units, clusters=len(sizes), effect=effect, basis=basis
    )


def _units(task: Task, questions: Sequence[Question]) -> int:
    """Number of units of the primary metric, counted on questions without points."""
    blank = [
        ScoredQuestion(q, Score(question_id=q.question_id, model="", condition="main", points=None))
        for q in questions
    ]
    return max(1, task.measures[task.primary_metric](blank).n_unscored)


def _spreads(
    bench: Workbench, task: Task, questions: Sequence[Question]
) -> Mapping[str, tuple[float, float, str]]:
    """Estimate the variance per unit from neighbours on the leaderboard; {} if too few models."""
    sides = sorted(islice(_sides(bench, task, questions), _MAX_MODELS), key=lambda side: side.value)
    if len(sides) < 2:
        return {}
    measure, clusters = task.measures[task.primary_metric], cluster_questions(questions)
    adds = task.adds.get(task.primary_metric)
    units = _units(task, questions)
    spreads = [
        metric_pairs(measure, before, after, clusters, adds) for before, after in pairwise(sides)
    ]
    alone = [[PairedScores(0.0, p.after, p.cluster, p.most) for p in pairs] for pairs in spreads]
    base = median(side.value for side in sides)
    basis = f"{len(sides)} models' responses"

    def of_unit(every: Sequence[Sequence[PairedScores]]) -> float:
        return median(change_variance(pairs) * units / len(pairs) for pairs in every)

    return {
        "on the same questions": (of_unit(spreads), base, basis),
        "on other questions": (2 * of_unit(alone), base, basis),
    }


def _sides(bench: Workbench, task: Task, questions: Sequence[Question]) -> Iterator[ScoredMetric]:
    """Select the models with points for every question, in arbitrary order."""
    key = evaluation_key(task, "main", "scores")
    measure = task.measures[task.primary_metric]
    names = {question.question_id for question in questions}
    order = sorted(bench.tables.partitions(key), key=lambda one: sha256(one.encode()).digest())
    for model in order:
        try:
            by_question = fully_scored_by_question(bench.tables.read(key, Score, model))
        except TableError:
            continue
        if by_question.keys() != names:
            continue
        scored = [
            ScoredQuestion(q, score) for q in questions for score in by_question[q.question_id]
        ]
        value = measure(scored).value
        if not isnan(value):
            yield ScoredMetric(scored, value)
