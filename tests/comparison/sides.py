"""Evaluations of the quiz, made without a home."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from bench_assets.comparison.causes import EvaluationTables
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import Task
from tests.fakes.quiz import TASK


def side(
    questions: Sequence[Question],
    texts: Mapping[str, str],
    *,
    task: Task = TASK,
    judgements: Sequence[Judgement] = (),
    scorer: str = "",
    name: str = "m",
    **fields: Any,
) -> EvaluationTables:
    """What a model said to each question, scored and measured; other fields of predictions too."""
    defaults = {"decoding": "one|t=0,max=8", "prompt_sha256": "p", "condition": "main"}
    predictions = [
        Prediction(**(defaults | fields | {"question_id": key, "model": name, "text": text}))
        for key, text in texts.items()
    ]
    scores = pipeline.score(task, questions, predictions, judgements, scorer)
    metrics = pipeline.summarise(task, questions, predictions, scores)
    return EvaluationTables(
        name=name,
        questions=questions,
        predictions=predictions,
        judgements=judgements,
        scores=scores,
        metrics=metrics,
    )


def random_side(
    questions: Sequence[Question],
    name: str,
    rng: Random,
    *,
    task: Task = TASK,
    failing: float = 0.2,
) -> EvaluationTables:
    """A model's evaluation by chance, as are most things that it depends on."""
    texts = {one.question_id: rng.choice("xyz") for one in questions}
    judged = [_verdict(one.question_id, name, rng) for one in questions if rng.random() < 0.5]
    one = side(questions, texts, task=task, name=name, judgements=judged)
    predictions = [replace(row, **_how(name, row.text, rng, failing)) for row in one.predictions]
    failed = {row.question_id for row in predictions if row.error}
    scores = [
        replace(row, scorer=rng.choice(["a", "b"]), points=None, error="gone")
        if row.question_id in failed
        else replace(row, scorer=rng.choice(["a", "b"]))
        for row in one.scores
    ]
    metrics = pipeline.summarise(task, questions, predictions, scores)
    return replace(one, predictions=predictions, scores=scores, metrics=metrics)


def _how(name: str, text: str, rng: Random, failing: float) -> dict[str, Any]:
    return {
        "prompt_sha256": rng.choice("pppq"),
        "decoding": f"{rng.choice(['card', name])}|t=0,max={rng.choice('89')}",
        "raw_text": rng.choice(["", f"hm</think>{text}", "hm</think>x"]),
        "no_answer": rng.choice(["", "", "no answer in 8 tokens"]),
        "error": "timed out" if rng.random() < failing else "",
    }


def _verdict(question: str, name: str, rng: Random) -> Judgement:
    return Judgement(
        question_id=question, model=name, condition="main", judge=rng.choice(["gpt", "rules"]),
        criterion="right", verdict=rng.choice([True, False, None]),
    )  # fmt: skip
