"""One task's evaluation as rows: questions, responses, points and metrics of one model."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.evaluation.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvaluation:
    """Responses, judgements, scores and metrics of one model under one condition of a task."""

    task: Task
    model: str
    condition: str
    questions: Sequence[Question]
    predictions: Sequence[Prediction]
    scores: Sequence[Score]
    metrics: Sequence[Metric]
    partial: str = ""  # "4 of 80 questions"; "" for all
