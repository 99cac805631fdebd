"""Which answers count: the last word, the deadline, the budget, attention checks."""

from dataclasses import replace
from typing import Any

import pytest

from bench_assets.annotation.answers.validation import (
    attention_check_counts,
    find_misfits,
    latest_answers,
    open_units,
    resolve_answers,
)
from bench_assets.annotation.tasks import AnnotationTask, AnnotationTerms, Answer, Field, Unit
from tests.cases import read_rows

FORM = AnnotationTask(
    name="t/votes",
    title="Votes",
    instructions="Say yes or no.",
    fields=(
        Field(name="right", kind="choice", label="Right?", choices=("yes", "no")),
        Field(name="which", kind="choices", label="Which?", choices=(), required=False, most=2),
        Field(name="why", kind="text", label="Why?", required=False, most=10),
    ),
)
ITEM = Unit(task="t/votes", unit_id="i", shown={"Text": "one"}, needed=2, barred=("author",))
GOLD = Unit(task="t/votes", unit_id="g", shown={"Text": "two"}, gold={"right": ("yes",)})


def vote(person: str, right: str = "yes", minute: int = 0, unit: Unit = ITEM) -> Answer:
    at = f"2026-11-22T16:{minute:02}:00.000Z"
    return Answer(
        task="t/votes",
        task_version=FORM.version,
        unit_id=unit.unit_id,
        unit_digest=unit.digest,
        person=person,
        values={"right": (right,)},
        at=at,
        changed_at=at,
    )


def test_a_persons_last_word_is_taken_however_they_come() -> None:
    words = [vote("ana", "yes", 3), vote("ana", "no", 5), vote("ana", "yes", 1)]
    assert latest_answers(words) == latest_answers(words[::-1]) == [words[1]]


def test_a_person_has_one_vote_also_if_only_one_of_two_answers_names_the_version() -> None:
    # The digest is optional in files of answers; one without it is about the present version.
    first, last = replace(vote("ana", "yes", 1), unit_digest=""), vote("ana", "no", 2)
    assert resolve_answers(FORM, [ITEM], [first, last]).all == [last]
    assert resolve_answers(FORM, [ITEM], [first, last], AnnotationTerms(until=first.at)).all == [
        first
    ]


@pytest.mark.parametrize(
    ("change", "why"), read_rows(__file__, "refused_answers.jsonl", tuples=True)
)
def test_what_does_not_fit_is_refused_with_its_reason(change: dict[str, Any], why: str) -> None:
    counted = resolve_answers(FORM, [ITEM], [replace(vote("ana"), **change), vote("ben")])
    assert [one.person for one in counted.answers] == ["ben"]
    assert [one.complaint for one in counted.refused] == [why]
    assert len(counted.all) == 2


def test_choices_of_the_item_take_the_place_of_the_forms() -> None:
    own = replace(ITEM, choices={"which": ("a", "b", "c")})
    for which, n in ((("a", "b"), 1), (("a", "b", "c"), 0), (("a", "a"), 0), (("d",), 0)):
        given = replace(vote("ana", unit=own), values={"right": ("yes",), "which": which})
        assert len(resolve_answers(FORM, [own], [given]).answers) == n


def test_the_last_word_before_the_deadline_counts() -> None:
    words = [vote("ana", "yes", 1), vote("ana", "no", 9), vote("ben", "no", 9)]
    terms = AnnotationTerms(until="2026-11-22T16:05:00.000Z")
    counted = resolve_answers(FORM, [ITEM], words, terms)
    assert [(one.person, one.values["right"]) for one in counted.answers] == [("ana", ("yes",))]
    assert [(one.person, one.complaint) for one in counted.refused] == [
        ("ben", "after the deadline, 2026-11-22T16:05:00.000Z")
    ]


def test_of_a_person_with_too_many_answers_the_first_count() -> None:
    units = [replace(ITEM, unit_id=name, shown={"Text": name}) for name in "abc"]
    words = [vote("ana", minute=n, unit=unit) for n, unit in enumerate(reversed(units))]
    counted = resolve_answers(FORM, units, words, AnnotationTerms(most_answers=2))
    assert [one.unit_id for one in counted.answers] == ["b", "c"]
    assert counted.refused[0].complaint == "beyond the 2 answers that a person may give"


@pytest.mark.parametrize(
    ("right", "n", "least", "counts"),
    [(1, 2, 0.5, True), (1, 2, 0.6, False), (0, 1, 0.0, True), (3, 4, 0.75, True)],
)
def test_who_fails_attention_checks_does_not_count(
    right: int, n: int, least: float, *, counts: bool
) -> None:
    checks = [replace(GOLD, unit_id=f"g{i}") for i in range(n)]
    given = [vote("ana", "yes" if i < right else "no", unit=one) for i, one in enumerate(checks)]
    terms = AnnotationTerms(least_gold=least)
    counted = resolve_answers(FORM, [ITEM, *checks], [*given, vote("ana"), vote("ben")], terms)
    assert [one.person for one in counted.answers] == (["ana", "ben"] if counts else ["ben"])
    if not counts:
        assert f"{right} of {n} attention checks right" in counted.refused[-1].complaint
    assert attention_check_counts(given, {one.unit_id: one for one in checks}) == {
        "ana": (right, n)
    }


def test_open_is_what_lacks_answers_of_different_people() -> None:
    assert open_units([ITEM], [vote("ana"), vote("ana", "no", 1)]) == {"i": 1}
    assert open_units([ITEM], [vote("ana"), vote("ben")]) == {}
    assert open_units([ITEM], [vote("ana"), vote("ben"), vote("cem")]) == {}


def test_a_digest_is_of_what_is_shown_and_of_nothing_else() -> None:
    same = [
        replace(ITEM, needed=7, barred=(), gold={"right": ("no",)}),
        replace(ITEM, unit_id="another"),
    ]
    assert {one.digest for one in same} == {ITEM.digest}
    others = [
        replace(ITEM, shown={"Text": "two"}),
        replace(ITEM, shown={"Other": "one"}),
        replace(ITEM, images={"Text": "one"}, shown={}),
        replace(ITEM, choices={"which": ("a",)}),
    ]
    assert len({one.digest for one in [ITEM, *others]}) == 5


def test_a_form_is_another_where_a_person_sees_something_else() -> None:
    assert replace(FORM, about="section 3").version == FORM.version
    changed = [
        replace(FORM, instructions="Say no."),
        replace(FORM, title="V"),
        replace(FORM, fields=FORM.fields[:2]),
    ]
    assert len({task.version for task in [FORM, *changed]}) == 4


# Marks on images as values: inside of the image, as many as the form asks for.


VALIDATION_FORM = AnnotationTask(
    name="t/marks",
    title="",
    instructions="",
    fields=(
        Field(name="points", kind="points", label="", least=2, most=2, required=False),
        Field(name="boxes", kind="boxes", label="", most=2, required=False),
    ),
)


@pytest.mark.parametrize(
    ("field", "mark"),
    [
        *(("points", mark) for mark in ("1.01 0", "-0.1 0", "0.5", "0.5 0.5 0.5", "nan 0")),
        *(("boxes", mark) for mark in ("0.5 0 1.2 1", "0.5 0 0.5 1", "0.5 0.9 0.6 0.1", "0.5 0")),
    ],
)
def test_what_is_no_mark_of_the_image_is_named(field: str, mark: str) -> None:
    marks = (mark, "0.5 0.5") if field == "points" else (mark,)
    kind = {"points": "point", "boxes": "box"}[field]
    assert find_misfits({field: marks}, VALIDATION_FORM, {}) == [
        f"{field}: {mark!r} is not a {kind} of the image"
    ]


def test_the_number_of_marks_is_that_of_the_form() -> None:
    values = {"points": ("0 0",), "boxes": ("0 0 1 1",) * 3}
    assert find_misfits(values, VALIDATION_FORM, {}) == [
        "points: 1 entries (expected 2 to 2)",
        "boxes: 3 entries (expected 1 to 2)",
    ]
