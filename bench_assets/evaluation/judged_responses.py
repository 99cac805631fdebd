"""Judged responses: earlier verdicts of a judge, reused for blind baselines of judged metrics.

No judge is called for a baseline. A response that models gave to all questions of a slice, and that
the judge has judged there, is a constant response with a known score.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from bench_assets.core.judging.verdict_requests import group_judgements
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import AnsweredQuestion, Task


class KnownJudgements(NamedTuple):
    """Responses with their known judgements."""

    predictions: Sequence[Prediction]  # one without a judgement has an error
    judgements: Sequence[Judgement]
    missing: frozenset[str]  # questions whose response was not judged


@dataclass(frozen=True, slots=True)
class JudgedResponses:
    """Judgements of one judge by response and question, whichever model gave the response."""

    by_text: Mapping[str, Mapping[str, Sequence[Judgement]]]  # and by question id

    @classmethod
    def of(
        cls,
        evaluations: Iterable[tuple[Sequence[Prediction], Sequence[Judgement]]],
        judges: frozenset[tuple[str, str]],
    ) -> Self:
        """Collect the judgements from evaluations of the same questions; the first one counts.

        Only judgements by ``judges`` count, which are pairs of name and setup. A response with
        reasoning is left out: a judge may have seen its reasoning.
        """
        by_text: dict[str, dict[str, Sequence[Judgement]]] = defaultdict(dict)
        for predictions, judgements in evaluations:
            grouped = group_judgements(predictions, judgements)
            for prediction, of_response in zip(predictions, grouped, strict=True):
                if not prediction.has_reasoning and _are_valid(of_response, judges):
                    by_text[prediction.text].setdefault(prediction.question_id, of_response)
        return cls(by_text)

    def look_up(
        self, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> KnownJudgements:
        """Look up the judgements of the same responses to the same questions.

        A prediction with an answer, but without judgements, gets an error.
        """
        rows: list[Prediction] = []
        known: list[Judgement] = []
        missing: set[str] = set()
        for pair in AnsweredQuestion.of(questions, predictions):
            prediction = pair.prediction
            judgements = self.by_text.get(prediction.text, {}).get(prediction.question_id, ())
            known += [
                replace(
                    judgement,
                    model=prediction.model,
                    condition=prediction.condition,
                    sample=prediction.sample,
                )
                for judgement in judgements
            ]
            if judgements or prediction.error or pipeline.no_answer_reason(pair):
                rows.append(prediction)
            else:
                reason = "the judge has not judged this response to this question"
                rows.append(replace(prediction, error=reason))
                missing.add(prediction.question_id)
        return KnownJudgements(predictions=rows, judgements=known, missing=frozenset(missing))

    def constants(self, task: Task, questions: Sequence[Question]) -> list[str]:
        """Responses judged on all questions of a slice at least, those on most questions first."""
        slices: dict[str, set[str]] = defaultdict(set)
        for question in questions:
            for name in ("all", *task.slices(question)):
                slices[name].add(question.question_id)
        # Most responses have too few verdicts: counting is faster than comparing sets.
        min_size = min(map(len, slices.values()), default=0)
        texts = [
            text
            for text, judged in self.by_text.items()
            if len(judged) >= min_size and any(ids <= judged.keys() for ids in slices.values())
        ]
        return sorted(texts, key=lambda text: -len(self.by_text[text]))


def _are_valid(judgements: Sequence[Judgement], judges: frozenset[tuple[str, str]]) -> bool:
    """Whether there are judgements, all by these judges and none failed."""
    return bool(judgements) and all(
        (judgement.judge, judgement.setup) in judges and not judgement.error
        for judgement in judgements
    )
