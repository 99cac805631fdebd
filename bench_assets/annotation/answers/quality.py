"""Annotator quality: counts, speed, agreement and attention checks."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TypeAlias

from bench_assets.annotation.answers.validation import (
    ATTENTION_CHECK,
    attention_check_counts,
    open_units,
)
from bench_assets.annotation.tasks import AnnotationTask, Answer, Unit

_COMPARED = ("choice", "choices")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorQuality:
    """Answer quality of one annotator on one task; shares are 0 to 1, None if undefined."""

    task: str
    person: str
    n_answers: int  # answers that count
    n_refused: int
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
    choices = _choices_of(task, [answer for answer in answers if not answer.complaint])
    gold = attention_check_counts(
        [answer for answer in answers if answer.complaint == ATTENTION_CHECK], units_by_id
    )
    return [
        _person(task, person, answers, choices, gold.get(person, (0, 0)))
        for person in sorted({answer.person for answer in answers if answer.person})
    ]


def disagreements(
    task: AnnotationTask,
    units: Sequence[Unit],
    counted: Sequence[Answer],
    undecided: Collection[str],
) -> list[UnitDisagreement]:
    """Compute the disagreement on each unit, largest first: the queue of a second round.

    Args:
        task: The task; only its choice fields are compared.
        units: The published units.
        counted: The answers that count.
        undecided: Ids of open units; all others lack no answers.
    """
    choices, lacking = _choices_of(task, counted), open_units(units, counted)
    rows = [
        UnitDisagreement(
            task=task.name,
            unit_id=unit.unit_id,
            n_annotators=len(
                {p for unit_choices in choices.get(unit.unit_id, {}).values() for p in unit_choices}
            ),
            disagreement=_disagreement(list(choices.get(unit.unit_id, {}).values())),
            lacking=lacking.get(unit.unit_id, 0) if unit.unit_id in undecided else 0,
        )
        for unit in units
        if not unit.gold
    ]
    return sorted(rows, key=lambda row: (-row.disagreement, row.unit_id))


_Chosen: TypeAlias = Mapping[str, tuple[str, ...]]  # by person
_Choices: TypeAlias = Mapping[str, Mapping[str, _Chosen]]  # by unit and field


def _choices_of(task: AnnotationTask, counted: Iterable[Answer]) -> _Choices:
    names = [field.name for field in task.fields if field.kind in _COMPARED]
    choices: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {}
    for answer in counted:
        of_unit = choices.setdefault(answer.unit_id, {name: {} for name in names})
        for name in names:
            of_unit[name][answer.person] = tuple(sorted(answer.values.get(name, ())))
    return {  # a field that everyone left empty does not apply: agreement on it means nothing
        unit: {name: chosen for name, chosen in of_unit.items() if any(chosen.values())}
        for unit, of_unit in choices.items()
    }


def _disagreement(choices: Sequence[_Chosen]) -> float:
    pairs = [
        a != b
        for chosen in choices
        for n, a in enumerate(chosen.values())
        for b in list(chosen.values())[:n]
    ]
    return sum(pairs) / len(pairs) if pairs else 0.0


def _person(
    task: AnnotationTask,
    person: str,
    answers: Sequence[Answer],
    choices: _Choices,
    gold: tuple[int, int],
) -> AnnotatorQuality:
    person_answers = [answer for answer in answers if answer.person == person]
    counted = [answer for answer in person_answers if not answer.complaint]
    seconds = [
        answer.seconds
        for answer in person_answers
        if answer.seconds is not None and not answer.skipped
    ]
    shares = [share for answer in counted for share in _shares(answer, choices)]
    right, n_gold = gold
    return AnnotatorQuality(
        task=task.name,
        person=person,
        n_answers=len(counted),
        n_refused=sum(bool(answer.complaint) and not answer.skipped for answer in person_answers)
        - n_gold,
        n_skipped=sum(answer.skipped for answer in person_answers),
        seconds=median(seconds) if seconds else None,
        n_compared=len(shares),
        agreement=fmean(shares) if shares else None,
        n_gold=n_gold,
        gold=right / n_gold if n_gold else None,
    )


def _shares(answer: Answer, choices: _Choices) -> list[float]:
    """Share of other annotators who agree with an answer, by field that anyone filled in."""
    shares = []
    for chosen in choices[answer.unit_id].values():
        if other_values := [value for person, value in chosen.items() if person != answer.person]:
            shares.append(other_values.count(chosen[answer.person]) / len(other_values))
    return shares
