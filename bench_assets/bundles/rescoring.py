"""The right half of ``pipeline`` once more, from responses that are there: nobody is asked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import parts_of
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.blind_baselines import beside, best_constants
from bench_assets.evaluation.task import RULES, ByModel, Task


class Again(NamedTuple):
    """What comes of responses, step by step."""

    predictions: Sequence[Prediction]
    judgements: Sequence[Judgement]
    scores: Sequence[Score]
    metrics: Sequence[Metric]


def evaluate_again(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
    reading: str,
) -> Again:
    """Judge by rules, or take what a model judged; score and measure.

    Args:
        task: As it is now.
        questions: The whole table.
        predictions: Of one model under one condition.
        judgements: On them, as they were recorded.
        reading: Of the task; "" is its default one.

    Raises:
        UnknownNameError: If the task has no such reading.
        SettingsError: If it is not judged in that way any more.
    """
    if task.is_judged and (name := ruled_by(task, judgements)):
        judgements = by_rules(task, questions, predictions, name, judgements)
    return measured(task, questions, predictions, judgements, reading)


def measured(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
    reading: str,
) -> Again:
    """Score and measure, with what is scored without looking beside, as the graph does.

    Raises:
        UnknownNameError: If the task has no such reading, or not the condition of a response.
    """
    scores = pipeline.score(task, questions, predictions, judgements, reading)
    own = any(task.condition(name).own_questions for name in {row.condition for row in scores})
    tried = task.asked_of == "model" and not own  # as ``evaluation`` has constants tried
    constants = best_constants(task, questions) if tried else []
    metrics = beside(task, questions, predictions, scores, constants)
    return Again(predictions, judgements, scores, metrics)


def ruled_by(task: Task, judgements: Sequence[Judgement]) -> str:
    """Name the rules that judged; "" where a model did.

    Tables that are older than setups tell it by their rows; so do those without a row, on which
    the rules have nothing to say again.
    """
    names = {
        part.removeprefix("judge=").partition(":")[0]
        for row in judgements
        for part in parts_of(row.setup).judge
    } or {RULES}
    asks = any(isinstance(task.judges.get(name), ByModel) for name in names)
    by_model = asks or any(not row.by_rules for row in judgements)
    return "" if by_model or len(names) > 1 else next(iter(names))


def by_rules(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    name: str,
    recorded: Sequence[Judgement] = (),
) -> list[Judgement]:
    """Have the rules judge; how they were set up is written down as it was recorded.

    Raises:
        SettingsError: If the task has no such rules any more.
    """
    setup = next((row.setup for row in recorded), "")
    rows = pipeline.judge(task, questions, predictions, None, name)
    return [replace(row, setup=setup) for row in rows]


def by_model(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judge: tuple[ChatModel, str],
    setup: str,
) -> list[Judgement]:
    """Have a model judge, by its responses that are remembered; ``judge`` has the judge's name too.

    Raises:
        ModelError: If it cannot be asked.
    """
    rows = pipeline.judge(task, questions, predictions, *judge)
    return [replace(row, setup=setup) for row in rows]
