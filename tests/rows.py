"""Rows with everything filled in, so that a test names only what it is about."""

from typing import Any

from bench_assets.core.rows import Prediction, Question, Score
from bench_assets.task import Answered, Scored


def question(**fields: Any) -> Question:
    defaults: dict[str, Any] = {
        "question_id": "t/1",
        "task": "t",
        "edition": "mini",
        "kind": "text",
        "text": "?",
        "answer": ("x",),
    }
    return Question(**(defaults | fields))


def prediction(**fields: Any) -> Prediction:
    defaults: dict[str, Any] = {
        "question_id": "t/1",
        "model": "m",
        "condition": "main",
        "text": "x",
    }
    return Prediction(**(defaults | fields))


def answered(text: str, **fields: Any) -> Answered:
    asked = question(**fields)
    return Answered(asked, prediction(question_id=asked.question_id, text=text))


def scored(*, points: float | None, **fields: Any) -> Scored:
    asked = question(**fields)
    score = Score(question_id=asked.question_id, model="m", condition="main", points=points)
    return Scored(asked, score)
