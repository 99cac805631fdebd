"""Rows with everything filled in, so that a test names only what it is about."""

from dataclasses import asdict, fields, replace
from hashlib import sha256
from typing import Any

from bench_assets.core.schema.measured_figures import DrawnUnit
from bench_assets.core.schema.rows import (
    LeaderboardRow,
    Metric,
    Prediction,
    Question,
    Score,
    StoredImage,
)
from bench_assets.evaluation.task import AnsweredQuestion, ScoredQuestion

SIGNATURE = "t|v1|main|data:d|prompts:p|model:{model}|judge:none|scorer:r|n:40"


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


def answered(text: str, **fields: Any) -> AnsweredQuestion:
    query = question(**fields)
    return AnsweredQuestion(query, prediction(question_id=query.question_id, text=text))


def scored(*, points: float | None, **fields: Any) -> ScoredQuestion:
    query = question(**fields)
    score = Score(question_id=query.question_id, model="m", condition="main", points=points)
    return ScoredQuestion(query, score)


def stored(name: str = "a.png", digest: str = "", n_bytes: int = 9) -> StoredImage:
    """An image that is never opened; without a digest, it has that of its name."""
    digest = digest or sha256(name.encode()).hexdigest()
    return StoredImage(name=name, sha256=digest, format="PNG", width=9, height=9, n_bytes=n_bytes)


def metric(model: str, value: float, **fields: Any) -> Metric:
    """A metric over 40 questions, whose interval is the value alone."""
    row = Metric(
        task="t",
        model=model,
        condition="main",
        metric="accuracy",
        category="all",
        value=value,
        low=value,
        high=value,
        n_scored=40,
        n_unscored=0,
        n_failed=0,
        edition="mini",
        signature=SIGNATURE.format(model=model),
    )
    return replace(row, **fields)


def standing(row: Metric, **changes: Any) -> LeaderboardRow:
    """The line of the leaderboard that a metric makes."""
    names = {field.name for field in fields(LeaderboardRow)}
    values = {name: value for name, value in asdict(row).items() if name in names}
    return LeaderboardRow(**{"source": "measured here", **values, **changes})


def drawn_unit(unit: str, questions: str = "", **changes: Any) -> DrawnUnit:
    """A unit that was drawn for people with probability 0.5; it is its own question by default."""
    row = DrawnUnit(
        task="t", model="m", unit=unit, questions=questions or unit, judge="gpt", stratum="yes",
        probability=0.5, digest="", at="1",
    )  # fmt: skip
    return replace(row, **changes)
