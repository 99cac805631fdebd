"""Judged responses: earlier verdicts of a judge, reused for blind baselines of judged metrics.

No judge is called for a baseline. A response that models gave to all questions of a slice, and that
the judge has judged there, is a constant response with a known score.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self, TypeAlias

from bench_assets.core.judging.verdict_requests import group_judgements
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import AnsweredQuestion, Task

Cells: TypeAlias = Mapping[tuple[str, str], float]
"""Values by metric and category."""

_NOT_JUDGED = "the judge has not judged this response to this question"


class KnownJudgements(NamedTuple):
    """Responses with their known judgements."""

    predictions: Sequence[Prediction]  # one without a judgement has an error
    judgements: Sequence[Judgement]
    missing: frozenset[str]  # questions whose response was not judged


@dataclass(frozen=True, slots=True)
class JudgedResponses:
    """Judgements of one judge by response and question, whichever model gave the response."""

    texts: Mapping[str, Mapping[str, Sequence[Judgement]]]

    @classmethod
    def of(
        cls,
        evaluations: Iterable[tuple[Sequence[Prediction], Sequence[Judgement]]],
        judges: frozenset[tuple[str, str]],
    ) -> Self:
        """Collect them from evaluations of the same questions.

        Args:
            evaluations: Predictions and judgements of each.
            judges: Judges with their setups; judgements of others do not count.
        """
        texts: dict[str, dict[str, Sequence[Judgement]]] = defaultdict(dict)
        for predictions, judgements in evaluations:
            grouped = group_judgements(predictions, judgements)
            for prediction, judged in zip(predictions, grouped, strict=True):
                if _is_plain(prediction) and _are_valid(judged, judges):
                    texts[prediction.text].setdefault(prediction.question_id, judged)
        return cls(texts)

    def about(
        self, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> KnownJudgements:
        """Look up the judgements of the same responses to the same questions."""
        questions_by_id = {question.question_id: question for question in questions}
        rows, known, missing = list[Prediction](), list[Judgement](), set[str]()
        for prediction in predictions:
            judged = self.texts.get(prediction.text, {}).get(prediction.question_id, ())
            known += [
                replace(
                    judgement,
                    model=prediction.model,
                    condition=prediction.condition,
                    sample=prediction.sample,
                )
                for judgement in judged
            ]
            if (
                judged
                or prediction.error
                or pipeline.no_answer_reason(
                    AnsweredQuestion(questions_by_id[prediction.question_id], prediction)
                )
            ):
                rows.append(prediction)
            else:
                rows.append(replace(prediction, error=_NOT_JUDGED))
                missing.add(prediction.question_id)
        return KnownJudgements(rows, known, frozenset(missing))

    def constants(self, task: Task, questions: Sequence[Question]) -> list[str]:
        """Responses judged on all questions of at least one slice, most verdicts first."""
        slices: dict[str, set[str]] = defaultdict(set)
        for question in questions:
            for name in ("all", *task.slices(question)):
                slices[name].add(question.question_id)
        least = min(map(len, slices.values()), default=0)
        texts = [
            text
            for text, judged in self.texts.items()
            if len(judged) >= least and any(of <= judged.keys() for of in slices.values())
        ]
        return sorted(texts, key=lambda text: -len(self.texts[text]))


def _is_plain(prediction: Prediction) -> bool:
    """Whether a response has no reasoning, which the judge may have been shown too."""
    return prediction.raw_text.strip() in ("", prediction.text.strip())


def _are_valid(judgements: Sequence[Judgement], judges: frozenset[tuple[str, str]]) -> bool:
    """Whether there are judgements, all by these judges and none failed."""
    return bool(judgements) and all(
        (judgement.judge, judgement.setup) in judges and not judgement.error
        for judgement in judgements
    )


def complete_cells(
    task: Task, questions: Sequence[Question], cells: Cells, anew: KnownJudgements
) -> Cells:
    """Leave out cells with a question whose response was not judged."""
    open_ = {
        name
        for question in questions
        if question.question_id in anew.missing
        for name in ("all", *task.slices(question))
    }
    return {cell: value for cell, value in cells.items() if cell[1] not in open_}
