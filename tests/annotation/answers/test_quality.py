from dataclasses import replace

import pytest

from bench_assets.annotation.answers.quality import annotator_quality, disagreements
from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import Answer, Field, Unit
from tests.annotation.answers.test_validation import FORM, GOLD, vote

ITEMS = [
    Unit(task=FORM.name, unit_id=name, shown={"Text": name}, needed=3)
    for name in ("a", "b", "c", "d")
]


def _votes(**letters_by_person: str) -> list[Answer]:
    """Votes of people, one letter a unit and minute: y, n, or a blank for no vote."""
    answers = []
    for person, letters in letters_by_person.items():
        for minute, letter in enumerate(letters):
            if letter != " ":
                right = {"y": "yes", "n": "no"}[letter]
                answers.append(vote(person, right, minute, ITEMS[minute]))
    return answers


def _quality(answers, units=ITEMS):
    resolved = resolve_answers(FORM, units, answers)
    return {row.person: row for row in annotator_quality(FORM, units, resolved.all)}


def test_agreement_is_the_mean_over_units_with_other_annotators() -> None:
    rows = _quality(_votes(ana="yyyy", ben="yynn", cem="yyy "))
    # ana beside ben and cem: a 1, b 1, c 1/2, d 0 of ben alone; all leave the other field empty.
    assert rows["ana"].agreement == pytest.approx((1 + 1 + 0.5 + 0) / 4)
    assert rows["ana"].n_compared == 4


def test_seconds_are_the_median_of_answers_without_skips() -> None:
    first, second, third, fourth = _votes(ana="yyyy")
    answers = [
        replace(first, seconds=1),
        replace(second, seconds=9),
        replace(third, seconds=2),
        replace(fourth, seconds=100, skipped=True),
    ]
    (row,) = _quality(answers).values()
    assert (row.seconds, row.n_answers, row.n_skipped, row.n_refused) == (2, 3, 1, 0)


def test_attention_checks_are_counted_apart() -> None:
    checks = [replace(GOLD, unit_id=f"g{n}") for n in range(3)]
    answers = [
        vote("ana", right, unit=check)
        for right, check in zip(("yes", "no", "yes"), checks, strict=True)
    ]
    (row,) = _quality([*_votes(ana="yyyy"), *answers], [*ITEMS, *checks]).values()
    assert (row.n_gold, row.n_answers, row.n_refused) == (3, 4, 0)
    assert row.gold == pytest.approx(2 / 3)


def test_units_with_the_most_disagreement_come_first() -> None:
    resolved = resolve_answers(FORM, ITEMS, _votes(ana="yyyy", ben="ynyy", cem="y y "))
    rows = disagreements(FORM, ITEMS, resolved.answers, [unit.unit_id for unit in ITEMS])
    assert [(row.unit_id, row.disagreement, row.n_annotators, row.lacking) for row in rows] == [
        ("b", 1.0, 2, 1),
        ("a", 0.0, 3, 0),
        ("c", 0.0, 3, 0),
        ("d", 0.0, 2, 1),
    ]


def test_annotators_of_a_task_without_choices_are_counted() -> None:
    task = replace(FORM, fields=(Field(name="why", kind="text", label="Why?"),))
    answers = [vote(person, unit=ITEMS[0]) for person in ("ana", "bo")]
    rows = disagreements(task, ITEMS, answers, undecided=["a"])
    assert {row.unit_id: row.n_annotators for row in rows}["a"] == 2
