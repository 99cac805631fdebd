"""People as a judge: verdicts of annotators on responses, and the points that they give.

The verdicts are answers to the annotation task ``TASK/verdicts``. The judgement of a response with
too few of them is an error, which blocks the metrics. After the deadline the response is unscored.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from bench_assets.annotation.answers.progress import undecided_units
from bench_assets.annotation.answers.validation import resolve_answers, with_needed
from bench_assets.annotation.answers.values import answers_by_unit
from bench_assets.annotation.responses.verdicts import VERDICTS, verdict_unit
from bench_assets.annotation.tasks import (
    PEOPLE,
    AnnotationTask,
    AnnotationTerms,
    Answer,
    field_value,
)
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.core.stats.rater_agreement import majority
from bench_assets.evaluation.outcomes import EXPIRED_VERDICT
from bench_assets.evaluation.task import AnsweredQuestion


class PeopleJudge(NamedTuple):
    """Judges responses by the answers of annotators."""

    task: AnnotationTask  # "codis/verdicts"
    answers: Sequence[Answer]  # of the annotation backend, whether they count or not
    terms: AnnotationTerms
    now: datetime  # with a time zone

    def judge(self, answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
        """Collect the verdicts on each response, a row for each person.

        A response with too few verdicts has one row: with an error, or expired after the deadline.

        Raises:
            SettingsError: If the deadline has passed, and too few responses were judged.
        """
        response_units = [
            verdict_unit(self.task, question, prediction.text) for question, prediction in answered
        ]
        units = {unit.unit_id: unit for unit in with_needed(response_units, self.terms)}
        distinct_units = list(units.values())
        counted = resolve_answers(self.task, distinct_units, self.answers, self.terms).answers
        undecided = undecided_units(
            distinct_units, counted, table_reasons=None, terms=self.terms, now=self.now
        )
        if shortage := undecided.shortage(len(units), self.terms):
            raise SettingsError(f"{self.task.name}: {shortage}")
        counted_by_unit = answers_by_unit(counted)
        judgements: list[Judgement] = []
        for (_, prediction), unit in zip(answered, response_units, strict=True):
            answers = counted_by_unit.get(unit.unit_id, [])
            progress = f"{len(answers)} of {units[unit.unit_id].needed} people"
            blank = Judgement.of(prediction, judge=PEOPLE, criterion="", verdict=None, response="")
            if unit.unit_id in undecided.open:
                judgements.append(replace(blank, error=f"{progress} have judged the response"))
            elif unit.unit_id in undecided.expired:
                note = f"{progress} judged it by {self.terms.until}"
                judgements.append(replace(blank, value=EXPIRED_VERDICT, response=note))
            else:
                judgements += [_fill_in_answer(blank, answer) for answer in answers]
        return judgements


def _fill_in_answer(blank: Judgement, answer: Answer) -> Judgement:
    """Add an annotator's name, verdict and note to a judgement without a verdict."""
    value = field_value(answer, "verdict")
    note = " ".join(field_value(answer, "note").split())
    return replace(
        blank, criterion=answer.person, verdict=VERDICTS[value], value=value, response=note
    )


def score_by_people(score_by_rules: Score, judgements: Sequence[Judgement]) -> Score:
    """Give full points if most people call a response right, 0 if most call it wrong.

    In a tie, and without all verdicts, it is unscored. The answer of the score by rules is kept.
    """
    for judgement in judgements:
        if judgement.error or judgement.value == EXPIRED_VERDICT:
            note = judgement.error or f"{EXPIRED_VERDICT}: {judgement.response}"
            return replace(score_by_rules, points=None, note=note, unread=False)
    n_right = sum(judgement.verdict is True for judgement in judgements)
    verdict = majority(judgement.verdict for judgement in judgements)
    return replace(
        score_by_rules,
        points=None if verdict is None else score_by_rules.max_points * verdict,
        note=f"{n_right} of {len(judgements)} people call it right",
        votes=tuple(f"{judgement.criterion}: {judgement.value}" for judgement in judgements),
        unread=False,
    )
