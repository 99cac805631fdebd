"""Annotator quality: counts, speed, agreement and attention checks."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median
from typing import TypeAlias

from bench_assets.annotation.answers.validation import (
    ATTENTION_CHECK,
    attention_check_results,
    open_units,
)
from bench_assets.annotation.tasks import AnnotationTask, Answer, Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorQuality:
    """Answer quality of one annotator on one task; shares are 0 to 1, None if undefined."""

    task: str
    person: str
    n_answers: int  # answers that count
    n_refused: int  # answers that do not count, except skipped ones and attention checks
    n_skipped: int
    seconds: float | None  # s, median over answers with a measured time
    n_compared: int  # choices that other annotators were also given
    agreement: float | None  # mean share of the others who chose the same, over these
    n_gold: int  # answered attention checks
    gold: float | None  # share of them answered correctly


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitDisagreement:
    """Disagreement on one unit."""

    task: str
    unit_id: str
    n_annotators: int
    disagreement: float  # share of annotator pairs who chose differently, over all fields
    lacking: int  # answers still needed


def annotator_quality(
    task: AnnotationTask, units: Sequence[Unit], answers: Sequence[Answer]
) -> list[AnnotatorQuality]:
    """Compute the answer quality of each annotator, sorted by name.

    Args:
        task: The task; only its choice fields are compared.
        units: The published units.
        answers: All answers; those that do not count have complaints.
    """
    units_by_id = {unit.unit_id: unit for unit in units}
    choices = _choices_by_unit(task, [answer for answer in answers if not answer.complaint])
    check_results = attention_check_results(
        [answer for answer in answers if answer.complaint == ATTENTION_CHECK], units_by_id
    )
    return [
        _person_quality(task, person, answers, choices, check_results.get(person, []))
        for person in sorted({answer.person for answer in answers if answer.person})
    ]


def disagreements(
    task: AnnotationTask,
    units: Sequence[Unit],
    counted: Sequence[Answer],
    undecided: Collection[str],
) -> list[UnitDisagreement]:
    """Compute the disagreement on each unit, largest first: the queue of a second round.

    The choice fields of the ``counted`` answers are compared. Attention checks are left out. Units
    that are not ``undecided`` need no more answers.
    """
    choices, n_missing = _choices_by_unit(task, counted), open_units(units, counted)
    n_answers = Counter(answer.unit_id for answer in counted)
    rows = []
    for unit in units:
        if unit.gold:
            continue
        rows.append(
            UnitDisagreement(
                task=task.name,
                unit_id=unit.unit_id,
                n_annotators=n_answers[unit.unit_id],
                disagreement=_disagreement(choices.get(unit.unit_id, {}).values()),
                lacking=n_missing.get(unit.unit_id, 0) if unit.unit_id in undecided else 0,
            )
        )
    return sorted(rows, key=lambda row: (-row.disagreement, row.unit_id))


_FieldChoices: TypeAlias = Mapping[str, tuple[str, ...]]  # by person
_Choices: TypeAlias = Mapping[str, Mapping[str, _FieldChoices]]  # by unit and field


def _choices_by_unit(task: AnnotationTask, counted: Iterable[Answer]) -> _Choices:
    """Group choices by unit, field and person, without fields that everyone left empty."""
    names = [field.name for field in task.fields if field.kind in ("choice", "choices")]
    choices: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {}
    for answer in counted:
        unit_choices = choices.setdefault(answer.unit_id, {name: {} for name in names})
        for name in names:
            unit_choices[name][answer.person] = tuple(sorted(answer.values.get(name, ())))
    return {  # a field that everyone left empty does not apply to the unit
        unit_id: {
            name: by_person for name, by_person in by_field.items() if any(by_person.values())
        }
        for unit_id, by_field in choices.items()
    }


def _disagreement(choices: Iterable[_FieldChoices]) -> float:
    """Share of annotator pairs who chose differently, over all fields; 0 without pairs."""
    differs = [
        first != second
        for field_choices in choices
        for first, second in combinations(field_choices.values(), 2)
    ]
    return sum(differs) / len(differs) if differs else 0.0


def _person_quality(
    task: AnnotationTask,
    person: str,
    answers: Sequence[Answer],
    choices: _Choices,
    check_results: Sequence[bool],
) -> AnnotatorQuality:
    """Compute the quality of one person; ``check_results`` are those of attention checks."""
    person_answers = [answer for answer in answers if answer.person == person]
    counted = [answer for answer in person_answers if not answer.complaint]
    seconds = [
        answer.seconds
        for answer in person_answers
        if answer.seconds is not None and not answer.skipped
    ]
    shares = [share for answer in counted for share in _agreement_shares(answer, choices)]
    n_gold = len(check_results)
    n_refused = sum(bool(answer.complaint) and not answer.skipped for answer in person_answers)
    return AnnotatorQuality(
        task=task.name,
        person=person,
        n_answers=len(counted),
        n_refused=n_refused - n_gold,
        n_skipped=sum(answer.skipped for answer in person_answers),
        seconds=median(seconds) if seconds else None,
        n_compared=len(shares),
        agreement=fmean(shares) if shares else None,
        n_gold=n_gold,
        gold=fmean(check_results) if check_results else None,
    )


def _agreement_shares(answer: Answer, choices: _Choices) -> list[float]:
    """Share of the other annotators who agree with an answer, for each field that applies."""
    shares = []
    for field_choices in choices[answer.unit_id].values():
        own_choice = field_choices[answer.person]
        others = [choice for person, choice in field_choices.items() if person != answer.person]
        if others:
            shares.append(others.count(own_choice) / len(others))
    return shares
