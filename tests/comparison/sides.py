"""Evaluations of the quiz, made without a home."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench_assets.comparison.causes import Side
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import Task
from tests.quiz import TASK


def side(
    questions: Sequence[Question],
    texts: Mapping[str, str],
    *,
    task: Task = TASK,
    judgements: Sequence[Judgement] = (),
    reading: str = "",
    name: str = "m",
    **fields: Any,
) -> Side:
    """What a model said to each question, scored and measured; other fields of predictions too."""
    defaults = {"decoding": "one|t=0,max=8", "prompt_sha256": "p", "condition": "main"}
    said = [
        Prediction(**(defaults | fields | {"question_id": key, "model": name, "text": text}))
        for key, text in texts.items()
    ]
    scores = pipeline.score(task, questions, said, judgements, reading)
    metrics = pipeline.summarise(task, questions, said, scores)
    return Side(
        name=name,
        questions=questions,
        predictions=said,
        judgements=judgements,
        scores=scores,
        metrics=metrics,
    )


def with_predictions(one: Side, **fields: Any) -> Side:
    """The same, its predictions with other fields."""
    said = [replace(row, **fields) for row in one.predictions]
    return replace(one, predictions=said)
