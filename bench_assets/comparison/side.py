"""One side of a comparison: all tables of a model's evaluation on a task."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Protocol, TypeVar

from bench_assets.comparison.causes import DECODING, MODEL, VERSION, QuestionRecord, who_and_how
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import Signature

_SPELLED = {"data": "questions", "prompts": "prompt"}  # parts of signatures, as causes name them


@dataclass(frozen=True, kw_only=True)
class Side:
    """All tables of an evaluation; some may be empty."""

    name: str
    questions: Sequence[Question]
    predictions: Sequence[Prediction]
    judgements: Sequence[Judgement]
    scores: Sequence[Score]
    metrics: Sequence[Metric]

    @cached_property
    def answered(self) -> dict[str, QuestionRecord]:
        """What became of each question that has scores, by its id."""
        said, judged = _by_question(self.predictions), _by_question(self.judgements)
        scored = _by_question(self.scores)
        return {
            question.question_id: QuestionRecord(question, said[name], judged[name], scored[name])
            for question in self.questions
            for name in (question.question_id,)
            if scored[name]
        }

    @cached_property
    def spelled(self) -> dict[str, str]:
        """What its signature says, part by part; nothing where nothing was measured."""
        return spelled_out(Signature.parse(self.metrics[0].signature)) if self.metrics else {}

    def written(self, metric: str) -> float | None:
        """The value that stands in its table of metrics."""
        found = [m.value for m in self.metrics if (m.metric, m.category) == (metric, "all")]
        return None if not found or isnan(found[0]) else found[0]


def spelled_out(signature: Signature) -> dict[str, str]:
    """Take a signature apart into what causes are named after; the model from its decoding.

    >>> spelled_out(Signature("t", 1, "main", {"model": "m|t=0", "reading": "strict"}))
    {'version of the task': 't v1', 'condition': 'main', 'reading': 'strict', \
'model': 'm', 'decoding': 't=0'}
    """
    model, decoding = who_and_how(signature.parts.get("model", ""))
    rest = {_SPELLED.get(k, k): v for k, v in signature.parts.items() if k != "model"}
    task = "+".join((signature.task, *signature.extensions))
    named = {VERSION: f"{task} v{signature.version}", "condition": signature.condition}
    return {**named, **rest, MODEL: model, DECODING: decoding}


class _OfQuestion(Protocol):
    @property
    def question_id(self) -> str: ...


_Row = TypeVar("_Row", bound=_OfQuestion)


def _by_question(rows: Sequence[_Row]) -> defaultdict[str, list[_Row]]:
    found: defaultdict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        found[row.question_id].append(row)
    return found
