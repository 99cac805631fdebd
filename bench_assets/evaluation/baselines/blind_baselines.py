"""Blind baselines: the best constant response, and responses shuffled across questions.

Both accompany every metric as ``constant`` and ``shuffled``, and reveal metrics, scorers or
questions that can be satisfied blindly. Verdicts come from rules, or are a judge's earlier verdicts
on the same responses.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from bench_assets.core.judging.second_look import is_reader
from bench_assets.core.judging.verdict_requests import group_judgements
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.aggregation import cell_values
from bench_assets.evaluation.baselines.constant_responses import constant_responses, max_constants
from bench_assets.evaluation.judged_responses import (
    Cells,
    JudgedResponses,
    KnownJudgements,
    complete_cells,
)
from bench_assets.evaluation.pipeline import score_response
from bench_assets.evaluation.task import RULES, AnsweredQuestion, ScoredQuestion, Task


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
    task: Task, questions: Sequence[Question], tried: Sequence[str] = ()
) -> list[BestConstant]:
    """Find the constant response with the best value of each metric, category by category.

    Candidates are scored with every scorer of the task; the best value is the lowest for metrics
    in ``lower_is_better``. Tasks that only a model can judge, and cells in which nothing can be
    scored, have no row.

    Args:
        task: The task.
        questions: Its questions, or a part of them.
        tried: Candidates; (): those of ``constant_responses``.
    """
    if not questions or not _has_rules(task):
        return []
    data = short_digest(digest(questions))
    tried = tried or constant_responses(questions, task.slices)
    cells = {text: _constant_cells(task, questions, text) for text in tried}
    return [
        row
        for scorer in task.scorers
        for row in _best_rows(task, scorer, {text: of[scorer] for text, of in cells.items()}, data)
    ]


def best_cells(
    found: Mapping[str, Cells], lower_is_better: Collection[str] = ()
) -> dict[tuple[str, str], tuple[float, str]]:
    """The best value of each cell, with its response; of equal ones the first."""
    best: dict[tuple[str, str], tuple[float, str]] = {}
    for text, cells in found.items():
        for cell, value in cells.items():
            sign = -1 if cell[0] in lower_is_better else 1
            if cell not in best or sign * value > sign * best[cell][0]:
                best[cell] = value, text
    return best


def judged_constants(
    task: Task, questions: Sequence[Question], judged: JudgedResponses
) -> list[BestConstant]:
    """Find the best constant responses among those that a judge has judged already.

    Like ``best_constants``. A response counts in a cell if it was judged on all of its questions.
    """
    cells: dict[str, dict[str, Cells]] = defaultdict(dict)
    for text in judged.constants(task, questions)[: max_constants(len(questions))]:
        anew = judged.about(questions, constant_predictions(questions, text))
        for scorer in task.scorers:
            values = _values(task, questions, anew.predictions, anew.judgements, scorer)
            cells[scorer][text] = complete_cells(task, questions, values, anew)
    data = short_digest(digest(questions)) if cells else ""
    return [row for scorer, tried in cells.items() for row in _best_rows(task, scorer, tried, data)]


def _best_rows(
    task: Task, scorer: str, tried: Mapping[str, Cells], data: str
) -> Iterator[BestConstant]:
    counts = Counter(cell for cells in tried.values() for cell in cells)
    for cell, (value, best) in best_cells(tried, task.lower_is_better).items():
        yield BestConstant(
            scorer=scorer,
            metric=cell[0],
            category=cell[1],
            value=value,
            response=best,
            data=data,
            n_tried=counts[cell],
        )


def metrics_with_baselines(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    scores: Sequence[Score],
    constants: Sequence[BestConstant],
    judged: JudgedResponses | None = None,
) -> list[Metric]:
    """Compute a model's metrics, each with both blind baselines.

    Args:
        task: The task.
        questions: Its questions.
        predictions: The model's responses.
        scores: Their scores.
        constants: Best constant responses; those of other questions do not count.
        judged: Earlier verdicts of the judge of these scores, if a model judged; without them,
            the metrics have no baselines.
    """
    rows = pipeline.summarise(task, questions, predictions, scores)
    scorers = {row.scorer for row in scores}
    judges = {judge for row in scores for judge in row.judge.split("+")}
    by_rules = _has_rules(task) and {judge for judge in judges if not is_reader(judge)} <= {
        "",
        RULES,
    }
    if not rows or len(scorers) != 1 or not (by_rules or judged):
        return rows
    (scorer,) = scorers
    anew = KnownJudgements(shuffled := shuffle_responses(predictions), (), frozenset())
    if by_rules:
        anew = anew._replace(judgements=_judge_by_rules(task, questions, shuffled))
    elif judged:
        constants = judged_constants(task, questions, judged)
        anew = judged.about(questions, shuffled)
    known = {
        (constant.metric, constant.category): constant
        for constant in constants
        if (constant.scorer, constant.data) == (scorer, rows[0].data)
    }
    values = _values(task, questions, anew.predictions, anew.judgements, scorer)
    dealt = complete_cells(task, questions, values, anew)
    return [
        replace(
            row,
            constant=best.value if best else None,
            shuffled=dealt.get(cell) if len(questions) > 1 else None,
            baselines="" if by_rules else _origin(best, len(anew.missing)),
        )
        for row in rows
        for cell in [(row.metric, row.category)]
        for best in [known.get(cell)]
    ]


def _origin(best: BestConstant | None, n_missing: int) -> str:
    """How the blind baselines of a judged metric were found, or why they are absent."""
    constant = (
        f"constant: best of {best.n_tried} that the judge had judged on all questions"
        if best
        else "no constant: no response was judged on all questions; evaluate most-frequent"
    )
    shuffled = (
        f"; no shuffled: {n_missing} shuffled responses were not judged on their new questions"
    )
    return constant + (shuffled if n_missing else "")


def chance_level(task: Task, questions: Sequence[Question]) -> float | None:
    """Expected accuracy of a random guess, in [0, 1].

    None unless accuracy is the primary metric and all questions are choices among equally many
    options.
    """
    offered = {len(question.options) if question.kind == "choice" else 0 for question in questions}
    is_share = task.primary_metric == "accuracy" and len(offered) == 1
    return 1 / max(offered) if is_share and max(offered) else None


def shuffle_responses(predictions: Sequence[Prediction]) -> list[Prediction]:
    """Shuffle a model's responses across questions, each sample separately.

    Responses move on by one question, in an order that depends on question ids only and in which
    questions about the same image are rarely adjacent. Missing responses stay missing.
    """
    samples = defaultdict[int, list[int]](list)  # positions of responses
    for position, row in enumerate(predictions):
        if not row.error:
            samples[row.sample].append(position)
    shuffled = list(predictions)
    for positions in samples.values():
        positions.sort(key=lambda n: sha256(predictions[n].question_id.encode()).digest())
        for receiver, giver in zip(positions, positions[-1:] + positions[:-1], strict=True):
            question_id = predictions[receiver].question_id
            shuffled[receiver] = replace(predictions[giver], question_id=question_id)
    return shuffled


def _has_rules(task: Task) -> bool:
    return not task.is_judged or RULES in task.judges


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


def _constant_cells(task: Task, questions: Sequence[Question], text: str) -> Mapping[str, Cells]:
    """Cell values of one response to all questions, by scorer; computed once for equal scores."""
    predictions = constant_predictions(questions, text)
    pairs = list(map(AnsweredQuestion, questions, predictions))
    grouped = group_judgements(predictions, _judge_by_rules(task, questions, predictions))
    known: list[tuple[Sequence[Score], Cells]] = []
    constant_cells: dict[str, Cells] = {}
    for name, scorer in task.scorers.items():
        scores = [
            score_response(task, scorer, pair, verdicts)
            for pair, verdicts in zip(pairs, grouped, strict=True)
        ]
        constant_cells[name] = next((cells for rows, cells in known if rows == scores), {})
        if not constant_cells[name]:
            constant_cells[name] = cell_values(
                task, questions, list(map(ScoredQuestion, questions, scores))
            )
            known.append((scores, constant_cells[name]))
    return constant_cells


def _judge_by_rules(
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
    scores = pipeline.score(task, questions, predictions, judgements, scorer)
    return cell_values(task, questions, ScoredQuestion.of(questions, scores))
