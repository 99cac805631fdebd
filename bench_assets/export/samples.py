"""Samples for exports: a question with its response, judgements and scores."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.workspace.inspect.table_collection import ModelResponses


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSample:
    """One sample of one question; ``score`` is None before it is scored."""

    question: Question
    prompt: Prompt  # as rendered now
    prediction: Prediction
    judgements: Sequence[Judgement]
    score: Score | None

    @property
    def points(self) -> float | None:
        """Points; None, never 0, if the request or the judge failed."""
        return None if self.prediction.error or self.score is None else self.score.points

    @property
    def explanation(self) -> str:
        """Reasons for the points, or for their absence."""
        verdicts = [
            f"{row.judge}, {row.criterion}: {row.error or row.response or row.value or row.verdict}"
            for row in self.judgements
        ]
        notes = [self.prediction.error, self.prediction.no_answer]
        notes += [self.score.note] if self.score else []
        return "\n".join(dict.fromkeys(text for text in (*notes, *verdicts) if text))

    @property
    def about(self) -> dict[str, Any]:
        """Additional facts about question and response, without empty ones."""
        question = self.question
        fields = {
            "category": question.category,
            "group_id": question.group_id,
            "labels": dict(question.labels),
            "images": list(question.images),
            "note": self.prediction.note,
            "decoding": self.prediction.decoding,
            "ranking": list(self.prediction.ranking),
            "prompt_changed": self.prediction.prompt_sha256 not in ("", self.prompt.sha256),
        }
        return {name: value for name, value in fields.items() if value}


def as_json(value: object) -> str:
    """Serialise a value as JSON without escapes; NaN is an error, see ``none_if_nan``."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def none_if_nan(value: float) -> float | None:
    """A number, or None for NaN, which JSON does not have.

    >>> none_if_nan(0.5), none_if_nan(float("nan"))
    (0.5, None)
    """
    return None if isnan(value) else value


def blind_baselines(row: Metric) -> dict[str, float | None]:
    """Scores of the best constant response and of shuffled responses; None if unknown."""
    baselines = {"constant": row.constant, "shuffled": row.shuffled}
    return {
        name: None if value is None else none_if_nan(value) for name, value in baselines.items()
    }


def unread_bounds(row: Metric) -> dict[str, float | None]:
    """Share of unread responses, and the values if they were wrong or right; {} without any."""
    if not row.unread:
        return {}
    return {name: getattr(row, name) for name in ("unread", "if_unread_wrong", "if_unread_right")}


def incomplete_reason(evaluation: ModelResponses) -> str:
    """Reason why metrics cannot be exported to a format without failures; "" if they can."""
    if evaluation.primary is None or isnan(evaluation.primary.value):
        return "it is not measured"
    failed = evaluation.primary.n_failed
    return f"{failed} questions have no response" if failed else ""


def export_samples(evaluation: ModelResponses) -> Iterator[ExportSample]:
    """Join rows into samples, in the order of the responses."""
    questions = evaluation.question_table.questions
    questions_by_id = {question.question_id: question for question in questions}
    scores = {(row.question_id, row.sample): row for row in evaluation.scores}
    judgements: dict[tuple[str, int], list[Judgement]] = defaultdict(list)
    for row in evaluation.judgements:
        judgements[row.question_id, row.sample].append(row)
    condition = evaluation.task.conditions[evaluation.condition]
    for prediction in evaluation.predictions:
        key = prediction.question_id, prediction.sample
        question = questions_by_id[prediction.question_id]
        yield ExportSample(
            question=question,
            prompt=condition.prompt(question),
            prediction=prediction,
            judgements=judgements[key],
            score=scores.get(key),
        )
