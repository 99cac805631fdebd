"""Blind baselines: the best constant response, and responses shuffled across questions.

Both accompany every metric as ``constant`` and ``shuffled``, and reveal metrics, scorers or
questions that can be satisfied blindly. Verdicts come from rules, or are a judge's earlier verdicts
on the same responses.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import inf
from typing import TypeAlias

from bench_assets.core.judging.second_look import is_reader, split_judges
from bench_assets.core.judging.verdict_requests import group_judgements
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.aggregation import cell_values
from bench_assets.evaluation.baselines.constant_responses import constant_responses, max_constants
from bench_assets.evaluation.judged_responses import JudgedResponses, KnownJudgements
from bench_assets.evaluation.pipeline import score_response
from bench_assets.evaluation.task import RULES, AnsweredQuestion, ScoredQuestion, Task

CellValues: TypeAlias = Mapping[tuple[str, str], float]
"""Values by metric and category."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestConstant:
    """Best constant response of one category."""

    scorer: str
    metric: str
    category: str
    value: float  # in the metric's own unit
    response: str  # the best of those tried, by this metric in this category
    data: str  # digest of the questions, as in signatures
    n_tried: int = 0  # number of responses tried; 0 in older tables


def best_constants(
    task: Task, questions: Sequence[Question], candidates: Sequence[str] = ()
) -> list[BestConstant]:
    """Find the constant response with the best value of each metric, category by category.

    Candidates are scored with every scorer of the task; the best value is the lowest for metrics
    in ``lower_is_better``. Tasks that only a model can judge, and cells in which nothing can be
    scored, have no row. Without ``candidates``, those of ``constant_responses`` are tried.
    """
    if not questions or not task.is_scored_without_judge:
        return []
    data = short_digest(digest(questions))
    candidates = candidates or constant_responses(questions, task.slices)
    cells = {text: _constant_cells(task, questions, text) for text in candidates}
    rows: list[BestConstant] = []
    for scorer in task.scorers:
        cells_by_text = {text: cells_by_scorer[scorer] for text, cells_by_scorer in cells.items()}
        rows += _best_rows(task, scorer, cells_by_text, data)
    return rows


def best_cells(
    cells_by_text: Mapping[str, CellValues], lower_is_better: Collection[str] = ()
) -> dict[tuple[str, str], tuple[float, str]]:
    """The best value of each cell, and the response that has it; the first one if several have."""
    best: dict[tuple[str, str], tuple[float, str]] = {}
    for text, cells in cells_by_text.items():
        for (metric, category), value in cells.items():
            sign = -1 if metric in lower_is_better else 1
            best_value, _ = best.get((metric, category), (-sign * inf, ""))
            if sign * value > sign * best_value:
                best[metric, category] = value, text
    return best


def judged_constants(
    task: Task, questions: Sequence[Question], judged_responses: JudgedResponses
) -> list[BestConstant]:
    """Find the best constant responses among those that a judge has judged already.

    A response counts in a cell if it was judged on all questions of the cell.
    """
    cells: dict[str, dict[str, CellValues]] = defaultdict(dict)  # by scorer and response
    for text in judged_responses.constants(task, questions)[: max_constants(len(questions))]:
        known_judgements = judged_responses.look_up(
            questions, constant_predictions(questions, text)
        )
        for scorer in task.scorers:
            cells[scorer][text] = _judged_cells(task, questions, known_judgements, scorer)
    data = short_digest(digest(questions)) if cells else ""
    return [
        row
        for scorer, cells_by_text in cells.items()
        for row in _best_rows(task, scorer, cells_by_text, data)
    ]


def _best_rows(
    task: Task, scorer: str, cells_by_text: Mapping[str, CellValues], data: str
) -> Iterator[BestConstant]:
    """The best constant of each cell, from the cells of each response tried."""
    n_tried = Counter(cell for cells in cells_by_text.values() for cell in cells)
    for cell, (value, response) in best_cells(cells_by_text, task.lower_is_better).items():
        metric, category = cell
        yield BestConstant(
            scorer=scorer,
            metric=metric,
            category=category,
            value=value,
            response=response,
            data=data,
            n_tried=n_tried[cell],
        )


def metrics_with_baselines(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    scores: Sequence[Score],
    constants: Sequence[BestConstant],
    judged_responses: JudgedResponses | None = None,
) -> list[Metric]:
    """Compute a model's metrics with the known blind baselines; without any if scorers differ.

    If rules judged, ``constants`` are the best constant responses; those of other questions do not
    count. Otherwise the baselines are from ``judged_responses``, earlier verdicts of the judge of
    these scores; without them, there are no baselines.
    """
    metrics = pipeline.summarise(task, questions, predictions, scores)
    scorers = {score.scorer for score in scores}
    if not metrics or len(scorers) != 1:
        return metrics
    (scorer,) = scorers
    by_rules = task.is_scored_without_judge and _are_scored_by_rules(scores)
    shuffled = shuffle_responses(predictions)
    if by_rules:
        judgements = _judge_by_rules(task, questions, shuffled)
        known_judgements = KnownJudgements(
            predictions=shuffled, judgements=judgements, missing=frozenset()
        )
    elif judged_responses:
        constants = judged_constants(task, questions, judged_responses)
        known_judgements = judged_responses.look_up(questions, shuffled)
    else:
        return metrics
    best_by_cell = {
        (constant.metric, constant.category): constant
        for constant in constants
        if constant.scorer == scorer and constant.data == metrics[0].data
    }
    shuffled_cells: CellValues = {}
    if len(questions) > 1:
        shuffled_cells = _judged_cells(task, questions, known_judgements, scorer)
    rows: list[Metric] = []
    for metric in metrics:
        cell = (metric.metric, metric.category)
        best = best_by_cell.get(cell)
        origin = "" if by_rules else _describe_baselines(best, len(known_judgements.missing))
        value = best.value if best else None
        rows.append(
            replace(metric, constant=value, shuffled=shuffled_cells.get(cell), baselines=origin)
        )
    return rows


def _are_scored_by_rules(scores: Sequence[Score]) -> bool:
    """Whether no judge other than rules gave verdicts; readers are no judges."""
    judges = {judge for score in scores for judge in split_judges(score.judge)}
    return all(judge == RULES or is_reader(judge) for judge in judges)


def _describe_baselines(best: BestConstant | None, n_missing: int) -> str:
    """How the blind baselines of a judged metric were found, or why they are absent."""
    if best:
        constant = f"constant: best of {best.n_tried} that the judge had judged on all questions"
    else:
        constant = "no constant: no response was judged on all questions; evaluate most-frequent"
    if not n_missing:
        return constant
    shuffled = f"{n_missing} shuffled responses were not judged on their new questions"
    return f"{constant}; no shuffled: {shuffled}"


def chance_level(task: Task, questions: Sequence[Question]) -> float | None:
    """Expected accuracy of a random guess; None unless all questions have equally many options.

    Also None if accuracy is not the primary metric, or not all questions are single-choice.
    """
    n_options = {len(question.options) for question in questions}
    if task.primary_metric != "accuracy" or len(n_options) != 1:
        return None
    if any(question.kind != "choice" or not question.options for question in questions):
        return None
    return 1 / max(n_options)


def shuffle_responses(predictions: Sequence[Prediction]) -> list[Prediction]:
    """Shuffle a model's responses across questions, each sample separately.

    Responses move on by one question, in an order that depends on question ids only and in which
    questions about the same image are rarely adjacent. Missing responses stay missing.
    """
    indices_by_sample = defaultdict[int, list[int]](list)
    for index, row in enumerate(predictions):
        if not row.error:
            indices_by_sample[row.sample].append(index)
    shuffled = list(predictions)
    for indices in indices_by_sample.values():
        indices.sort(key=lambda index: sha256(predictions[index].question_id.encode()).digest())
        source_indices = [indices[-1], *indices[:-1]]
        for index, source_index in zip(indices, source_indices, strict=True):
            question_id = predictions[index].question_id
            shuffled[index] = replace(predictions[source_index], question_id=question_id)
    return shuffled


def constant_predictions(questions: Sequence[Question], text: str) -> list[Prediction]:
    """One response to all questions."""
    return [
        Prediction(
            question_id=question.question_id,
            model="constant",
            condition="main",
            text=text,
            raw_text=text,
            finish_reason="stop",
        )
        for question in questions
    ]


def _constant_cells(
    task: Task, questions: Sequence[Question], text: str
) -> Mapping[str, CellValues]:
    """Cell values of one response to all questions, by scorer; computed once for equal scores."""
    predictions = constant_predictions(questions, text)
    pairs = AnsweredQuestion.of(questions, predictions)
    grouped = group_judgements(predictions, _judge_by_rules(task, questions, predictions))
    computed: list[tuple[Sequence[Score], CellValues]] = []
    cells_by_scorer: dict[str, CellValues] = {}
    for name, scorer in task.scorers.items():
        scores = [
            score_response(task, scorer, pair, judgements)
            for pair, judgements in zip(pairs, grouped, strict=True)
        ]
        cells = next((cells for rows, cells in computed if rows == scores), None)
        if cells is None:
            cells = cell_values(task, questions, ScoredQuestion.of(questions, scores))
            computed.append((scores, cells))
        cells_by_scorer[name] = cells
    return cells_by_scorer


def _judge_by_rules(
    task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
) -> Sequence[Judgement]:
    return pipeline.judge(task, questions, predictions, model=None) if task.is_judged else []


def _judged_cells(
    task: Task, questions: Sequence[Question], known_judgements: KnownJudgements, scorer: str
) -> CellValues:
    """Values of the cells in which all responses were judged."""
    scores = pipeline.score(
        task, questions, known_judgements.predictions, known_judgements.judgements, scorer
    )
    incomplete: set[str] = set()
    for question in questions:
        if question.question_id in known_judgements.missing:
            incomplete.update(("all", *task.slices(question)))
    cells = cell_values(task, questions, ScoredQuestion.of(questions, scores))
    return {
        (metric, category): value
        for (metric, category), value in cells.items()
        if category not in incomplete
    }
