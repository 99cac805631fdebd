"""Blind baselines: the best constant response, and responses shuffled across questions.

Both accompany every metric as ``constant`` and ``shuffled``, and reveal metrics, scorers or
questions that can be satisfied blindly. Verdicts come from rules; beside a metric of a model judge
stands what the same judge gave to a model that says one thing, if it was evaluated.
"""

from array import array
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import isnan
from typing import TypeAlias

from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import Signature, short
from bench_assets.core.schema.training_runs import COMPARED
from bench_assets.core.tables.arrow import digest
from bench_assets.core.tables.large_tables import column, gathered, taken
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.constant_responses import constant_responses
from bench_assets.evaluation.reviews import base_scorer
from bench_assets.evaluation.task import RULES, Task

Cells: TypeAlias = Mapping[tuple[str, str], float]
"""Values by metric and category."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestConstant:
    """Best constant response of one category."""

    scorer: str
    metric: str
    category: str
    value: float  # in the metric's own unit
    response: str  # the best of those tried, by this metric in this category
    data: str  # digest of the questions, as signatures have it


def best_constants(task: Task, questions: Sequence[Question]) -> list[BestConstant]:
    """Find the constant response with the best value of each metric, category by category.

    Tried is what ``constant_responses`` lists, in every scorer of the task; best is lowest for
    metrics of which lower is better. There is nothing for tasks that only a model can judge, and
    for cells in which nothing can be scored.
    """
    if not questions or not _has_rules(task):
        return []
    data = short(digest(questions))
    tried = constant_responses(questions, task.slices)
    found = {text: _readings(task, questions, text) for text in tried}
    return [
        BestConstant(
            scorer=scorer, metric=metric, category=where, value=value, response=best, data=data
        )
        for scorer in task.scorers
        for (metric, where), (value, best) in best_cells(
            {text: values[scorer] for text, values in found.items()}, task.lower_is_better
        ).items()
    ]


def best_cells(
    found: Mapping[str, Cells], lower_is_better: Collection[str] = ()
) -> dict[tuple[str, str], tuple[float, str]]:
    """The best value of each cell, with the response that has it; the first one of several.

    Args:
        found: By response, its value of each metric and category.
        lower_is_better: Metrics of which the lowest value is the best.
    """
    best: dict[tuple[str, str], tuple[float, str]] = {}
    for text, cells in found.items():
        for cell, value in cells.items():
            sign = -1 if cell[0] in lower_is_better else 1
            if cell not in best or sign * value > sign * best[cell][0]:
                best[cell] = value, text
    return best


def beside(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    scores: Sequence[Score],
    constants: Sequence[BestConstant],
) -> list[Metric]:
    """Summarise a model's scores with both blind values beside each number.

    They are left out where a model judged, and ``constant`` where it is of other questions.
    """
    rows = pipeline.summarise(task, questions, predictions, scores)
    judges, scorers = set(column(scores, "judge")), set(column(scores, "scorer"))
    by_rules = _has_rules(task) and judges <= {"", RULES}
    if not rows or not by_rules or len(scorers) != 1:
        return rows
    scorer = base_scorer(*scorers)
    known = {
        (one.metric, one.category): one.value
        for one in constants
        if (one.scorer, one.data) == (scorer, rows[0].data)
    }
    others = shuffled(predictions)
    dealt = _values(task, questions, others, _judged(task, questions, others), scorer)
    return [
        replace(row, constant=known.get(cell), shuffled=dealt.get(cell))
        for row in rows
        for cell in [(row.metric, row.category)]
    ]


def beside_judged(task: Task, rows: list[Metric], others: Sequence[Metric]) -> list[Metric]:
    """Put beside a model-judged number what one response got from the same judge.

    A judge is not asked for it: ``others`` are the metrics of models that say one thing. Those of
    other questions, prompts, scorers or judges do not count.
    """
    known: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for other in others:
        if rows and _compared(other) == _compared(rows[0]) and not isnan(other.value):
            known[other.model][other.metric, other.category] = other.value
    best = best_cells(known, task.lower_is_better)
    return [
        replace(row, constant=best[cell][0]) if row.constant is None and cell in best else row
        for row in rows
        for cell in [(row.metric, row.category)]
    ]


def _compared(row: Metric) -> tuple[str | None, ...]:
    parts = Signature.parse(row.signature).parts
    return row.condition, *(parts.get(name) for name in (*COMPARED, "judge"))


def chance_of(task: Task, questions: Sequence[Question]) -> float | None:
    """Expected score of a blind guess; known if all questions have as many options, one right.

    None if the primary metric is not accuracy.
    """
    kinds = zip(column(questions, "kind"), column(questions, "options"), strict=True)
    offered = {len(options) if kind == "choice" else 0 for kind, options in kinds}
    is_share = task.primary_metric == "accuracy" and len(offered) == 1
    return 1 / max(offered) if is_share and max(offered) else None


def shuffled(predictions: Sequence[Prediction]) -> Sequence[Prediction]:
    """Shuffle a model's responses across questions, each sample separately.

    Responses move one question further in an order that depends on question ids only; missing ones
    stay missing. Questions about the same image rarely follow each other in it.
    """
    names = [sha256(name.encode()).digest() for name in column(predictions, "question_id")]
    failed = bytearray(map(bool, column(predictions, "error")))
    samples: dict[int, array[int]] = defaultdict(lambda: array("I"))
    for place, sample in enumerate(column(predictions, "sample")):
        if not failed[place]:
            samples[sample].append(place)
    receivers = array("I", (place for place in range(len(names)) if failed[place]))
    givers = receivers[:]
    for places in samples.values():
        in_order = array("I", sorted(places, key=names.__getitem__))
        receivers += in_order
        givers += in_order[-1:] + in_order[:-1]
    whose = array("I", bytes(4 * len(names)))  # for each place
    for to, of in zip(receivers, givers, strict=True):
        whose[to] = of
    said = taken(predictions, whose)
    asked = column(predictions, "question_id")
    again = (replace(row, question_id=to) for row, to in zip(said, asked, strict=True))
    return gathered(again, Prediction)


def _has_rules(task: Task) -> bool:
    return not task.is_judged or RULES in task.judges


def constant_predictions(questions: Sequence[Question], text: str) -> Sequence[Prediction]:
    """One response to all questions."""
    rows = (
        Prediction(
            question_id=question.question_id,
            model="constant",
            condition="main",
            text=text,
            raw_text=text,
            finish_reason="stop",
        )
        for question in questions
    )
    return gathered(rows, Prediction)


def _readings(task: Task, questions: Sequence[Question], text: str) -> Mapping[str, Cells]:
    """Score one response to all questions with every scorer."""
    said = constant_predictions(questions, text)
    judged = _judged(task, questions, said)
    return {name: _values(task, questions, said, judged, name) for name in task.scorers}


def _judged(
    task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
) -> Sequence[Judgement]:
    return pipeline.judge(task, questions, predictions, None) if task.is_judged else []


def _values(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
    scorer: str,
) -> Cells:
    scores = gathered(pipeline.scores(task, questions, predictions, judgements, scorer), Score)
    rows = pipeline.summarise(task, questions, predictions, scores)
    return {(row.metric, row.category): row.value for row in rows if not isnan(row.value)}
