from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from bench_assets.comparison.causes import EvaluationTables
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import Task
from tests.fakes.quiz import TASK


def build_evaluation(
    questions: Sequence[Question],
    texts: Mapping[str, str],
    *,
    task: Task = TASK,
    judgements: Sequence[Judgement] = (),
    scorer: str = "",
    name: str = "m",
    **fields: Any,
) -> EvaluationTables:
    """Score and measure a model's responses; ``fields`` are further fields of its predictions."""
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


def build_scores(
    questions: Sequence[Question], points: Iterable[float | None], model: str
) -> list[Score]:
    """Scores of a model with these points, question by question."""
    return [
        Score(question_id=question.question_id, model=model, condition="main", points=value)
        for question, value in zip(questions, points, strict=True)
    ]


def build_random_evaluation(questions, name, rng, *, task=TASK, failing=0.2):
    """Evaluate random responses, with random judgements, prompts, decodings and scorers."""
    texts = {question.question_id: rng.choice("xyz") for question in questions}
    judgements = [
        _random_judgement(question.question_id, name, rng)
        for question in questions
        if rng.random() < 0.5
    ]
    evaluation = build_evaluation(questions, texts, task=task, name=name, judgements=judgements)
    predictions = [
        replace(row, **_random_fields(name, row.text, rng, failing))
        for row in evaluation.predictions
    ]
    failed = {row.question_id for row in predictions if row.error}
    scores = [
        replace(row, scorer=rng.choice(["a", "b"]), points=None, error="gone")
        if row.question_id in failed
        else replace(row, scorer=rng.choice(["a", "b"]))
        for row in evaluation.scores
    ]
    metrics = pipeline.summarise(task, questions, predictions, scores)
    return replace(evaluation, predictions=predictions, scores=scores, metrics=metrics)


def _random_fields(name: str, text: str, rng: Random, failing: float) -> dict[str, Any]:
    return {
        "prompt_sha256": rng.choice("pppq"),
        "decoding": f"{rng.choice(['card', name])}|t=0,max={rng.choice('89')}",
        "raw_text": rng.choice(["", f"hm</think>{text}", "hm</think>x"]),
        "no_answer": rng.choice(["", "", "no answer in 8 tokens"]),
        "error": "timed out" if rng.random() < failing else "",
    }


def _random_judgement(question_id: str, model: str, rng: Random) -> Judgement:
    return Judgement(
        question_id=question_id, model=model, condition="main", judge=rng.choice(["gpt", "rules"]),
        criterion="right", verdict=rng.choice([True, False, None]),
    )  # fmt: skip
