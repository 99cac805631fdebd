"""Whether a first look already shows that a checkpoint is worse than the one before it in its run.

Somebody looks at every checkpoint of a run, and more than once while it answers: the verdict is by
``core.sequential``, which calls no more than one run in twenty of equal checkpoints worse anywhere.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import isnan

from bench_assets.asset_factory.evaluation_assets import evaluation_key
from bench_assets.comparison.paired_comparisons import ALPHA, by_question
from bench_assets.comparison.units import ScoredMetric, metric_pairs
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Prediction, Question, Score
from bench_assets.core.schema.training_runs import step_of
from bench_assets.core.stats.paired_tests import PairedScores, change, clusters_of
from bench_assets.core.stats.sequential_tests import alpha_of, p_worse
from bench_assets.evaluation.task import ScoredQuestion, Task
from resources.tables.parquet import TableFiles

_FEWEST = 2  # independent questions


def verdict(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    scores: Sequence[Score],
    tables: TableFiles,
) -> str:
    """Say whether a model is worse than the step before it, by the questions that both answered.

    Compared is what was asked in the same words, read in the same way and judged by the same judge.

    Args:
        task: What was asked.
        questions: The few that were asked.
        predictions: What the model said.
        scores: And what that was worth.
        tables: Where the evaluations of earlier steps lie.
    """
    earlier = _earlier(scores[0].model, tables.partitions(_key(task, "scores"))) if scores else []
    if not earlier:
        return "nothing to compare with: no step before it in its run was evaluated"
    other = earlier[-1]
    try:
        before = tables.read(_key(task, "scores"), Score, other)
        said = tables.read(_key(task, "predictions"), Prediction, other)
    except TableError as why:
        return f"not comparable with {other}: {why}"
    pairs = _pairs(task, questions, _alike((said, before), (predictions, scores)))
    gains = gains_in_turn(pairs)
    if len(gains) < _FEWEST:
        return f"not comparable with {other}: fewer than {_FEWEST} questions asked alike"
    p, alpha = p_worse(gains), alpha_of(len(earlier), ALPHA)
    return (
        f"{'worse' if p < alpha else 'not shown to be worse'} than {other}: {task.primary_metric}"
        f" {change(pairs):+.3f} on {len(gains)} independent questions, p = {p:.2g} of"
        f" {alpha:.2g} that comparison {len(earlier)} of the run may spend"
    )


def gains_in_turn(pairs: Sequence[PairedScores]) -> list[float]:
    """What was gained on each cluster, in [-1, 1], in an order that the gains do not decide."""
    gained: dict[str, float] = {}
    most: dict[str, float] = {}
    for pair in pairs:
        gained[pair.cluster] = gained.get(pair.cluster, 0.0) + pair.after - pair.before
        most[pair.cluster] = most.get(pair.cluster, 0.0) + pair.most
    largest = max(most.values(), default=1.0)
    order = sorted(gained, key=lambda name: sha256(name.encode()).digest())
    return [max(-1.0, min(1.0, gained[name] / largest)) for name in order]


def _earlier(model: str, others: Sequence[str]) -> list[str]:
    """Earlier steps of a model's run, in their order."""
    here = step_of(model)
    found = [(step.step, other) for other in others if (step := step_of(other))
             if here and step.run == here.run and step.step < here.step]  # fmt: skip
    return [other for _, other in sorted(found)]


def _key(task: Task, table: str) -> Sequence[str]:
    return evaluation_key(task, "main", table)


def _alike(
    before: tuple[Sequence[Prediction], Sequence[Score]],
    after: tuple[Sequence[Prediction], Sequence[Score]],
) -> tuple[dict[str, list[Score]], dict[str, list[Score]]]:
    """The scores of both on the questions that were asked, read and judged alike."""
    old, new = ({**by_question(scores)} for _, scores in (before, after))
    asked_then, asked_now = (_prompts(said) for said, _ in (before, after))
    alike = [
        name
        for name in old.keys() & new.keys()
        if asked_then.get(name) == asked_now.get(name)
        and len({one.reading for one in (*old[name], *new[name])}) == 1
        and len({one.judge for one in (*old[name], *new[name])} - {""}) < 2
    ]
    return {name: old[name] for name in alike}, {name: new[name] for name in alike}


def _prompts(said: Sequence[Prediction]) -> Mapping[str, str]:
    return {one.question_id: one.prompt_sha256 for one in said}


def _pairs(
    task: Task,
    questions: Sequence[Question],
    sides: tuple[Mapping[str, list[Score]], Mapping[str, list[Score]]],
) -> list[PairedScores]:
    measure = task.measures[task.primary_metric]
    scored = [
        [ScoredQuestion(q, one) for q in questions for one in side.get(q.question_id, ())]
        for side in sides
    ]
    before, after = (ScoredMetric(side, measure(side).value) for side in scored)
    if isnan(before.value) or isnan(after.value):
        return []
    adds = task.adds.get(task.primary_metric)
    return metric_pairs(measure, before, after, clusters_of(questions), adds)
