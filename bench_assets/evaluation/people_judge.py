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

        Raises:
            SettingsError: If the deadline has passed, and too few responses were judged.
        """
        response_units = [verdict_unit(self.task, q, collected.text) for q, collected in answered]
        units = {unit.unit_id: unit for unit in with_needed(response_units, self.terms)}
        distinct_units = list(units.values())
        counted = resolve_answers(self.task, distinct_units, self.answers, self.terms).answers
        undecided = undecided_units(distinct_units, counted, None, self.terms, self.now)
        if refusal := undecided.refusal(len(units), self.terms):
            raise SettingsError(f"{self.task.name}: {refusal}")
        collected = answers_by_unit(counted)
        rows: list[Judgement] = []
        for (_, prediction), unit in zip(answered, response_units, strict=True):
            answers = collected.get(unit.unit_id, [])
            n = f"{len(answers)} of {units[unit.unit_id].needed} people"
            row = Judgement.of(prediction, judge=PEOPLE, criterion="", verdict=None, response="")
            if unit.unit_id in undecided.open:
                rows.append(replace(row, error=f"{n} have judged it"))
            elif unit.unit_id in undecided.expired:
                note = f"{n} judged it by {self.terms.until}"
                rows.append(replace(row, value=EXPIRED_VERDICT, response=note))
            else:
                rows += [_verdict(row, answer) for answer in answers]
        return rows


def _verdict(row: Judgement, answer: Answer) -> Judgement:
    value = field_value(answer, "verdict")
    note = " ".join(field_value(answer, "note").split())
    return replace(
        row, criterion=answer.person, verdict=VERDICTS[value], value=value, response=note
    )


def score_by_people(given: Score, judgements: Sequence[Judgement]) -> Score:
    """Give full points if most people call a response right, none if most call it wrong.

    ``given`` is the score by rules; its answer is kept.
    """
    if lacking := [
        judgement
        for judgement in judgements
        if judgement.error or judgement.value == EXPIRED_VERDICT
    ]:
        note = lacking[0].error or f"{EXPIRED_VERDICT}: {lacking[0].response}"
        return replace(given, points=None, note=note, unread=False)
    right = sum(judgement.verdict is True for judgement in judgements)
    verdict = majority(judgement.verdict for judgement in judgements)
    return replace(
        given,
        points=None if verdict is None else given.max_points * verdict,
        note=f"{right} of {len(judgements)} people call it right",
        votes=tuple(f"{judgement.criterion}: {judgement.value}" for judgement in judgements),
        unread=False,
    )
