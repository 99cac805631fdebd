"""How far a task is, and when it is finished: by pencil."""

from dataclasses import replace
from datetime import UTC, datetime

from bench_assets.annotation.answers.progress import (
    AnnotationProgress,
    progress_of,
    undecided_units,
)
from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import AnnotationTerms, UndecidedUnits
from tests.annotation.answers.test_validation import FORM, GOLD, ITEM, vote

NO_END = AnnotationTerms()
NOW = datetime(2026, 11, 22, 18, 0, tzinfo=UTC)
ITEMS = [replace(ITEM, unit_id=name, shown={"Text": name}) for name in "abc"]  # two answers each


def _progress(
    *answers: tuple[str, str, str], terms: AnnotationTerms = NO_END
) -> AnnotationProgress:
    """Answers as unit, person and time; an attention check lies among the units."""
    given = [
        replace(vote(person, unit=ITEMS["abc".index(unit)]), at=at, changed_at=at)
        for unit, person, at in answers
    ]
    counted = resolve_answers(FORM, [*ITEMS, GOLD], given)
    waits = undecided_units([*ITEMS, GOLD], counted.answers, None, terms, NOW)
    return progress_of("t/votes", [*ITEMS, GOLD], counted.all, waits, NOW)


def test_items_are_done_in_work_or_untouched() -> None:
    at = "2026-11-22T17:00:00.000Z"
    row = _progress(("a", "ana", at), ("a", "ben", at), ("b", "ana", at), ("c", "author", at))
    assert (row.units, row.done, row.in_work, row.untouched) == (3, 1, 1, 1)
    assert (row.answers, row.refused, row.lacking) == (3, 1, 3)
    assert row.annotators == ("ana", "ben")


def test_speed_is_of_the_last_three_days_where_people_answered_before() -> None:
    row = _progress(
        ("a", "ana", "2026-11-01T06:00:00.000Z"), ("a", "ben", "2026-11-20T18:00:00.000Z")
    )
    assert row.per_day == 1 / 3
    assert row.finished_at == "2026-12-04T18:00:00.000Z"  # four are lacking: twelve days


def test_nobody_knows_when_a_form_is_finished_that_nobody_answers() -> None:
    for answers in ([], [("a", "ana", "2026-11-01T06:00:00.000Z")], [("a", "ana", "")]):
        row = _progress(*answers)
        assert (row.per_day, row.finished_at) == (0, "")


def test_what_lacks_answers_at_the_deadline_is_expired_and_lacks_none() -> None:
    at = "2026-11-22T17:00:00.000Z"
    answers = [("a", "ana", at), ("a", "ben", at), ("b", "ana", at)]
    until = AnnotationTerms(until="2026-11-22T17:59:59.999Z")
    row = _progress(*answers, terms=until)
    assert (row.done, row.in_work, row.untouched, row.expired) == (1, 0, 0, 2)
    assert (row.lacking, row.finished_at) == (0, "")
    assert _progress(*answers, terms=AnnotationTerms(until="2026-11-22T18:00:00.000Z")).expired == 0


def test_too_little_decided_at_the_deadline_is_refused() -> None:
    waits = UndecidedUnits({}, {"b": "1 answers are missing", "c": "2 answers are missing"})
    assert waits.refusal(3, AnnotationTerms(until="2026-11-22", least_decided=1 / 3)) == ""
    assert waits.refusal(3, AnnotationTerms(until="2026-11-22")) == (
        "1 of 3 units were decided by the deadline, 2026-11-22 (expected at least 50%)."
        " Extend until, or lower needed or least_decided"
    )
    assert UndecidedUnits({"b": "", "c": ""}, {}).refusal(3, AnnotationTerms()) == ""


def test_the_suite_s_decisions_say_what_is_open_but_an_attention_check_is_not() -> None:
    decided = {"b": "tied", GOLD.unit_id: "0 of 2 voted"}
    assert undecided_units([*ITEMS, GOLD], [], decided, AnnotationTerms(), NOW) == (
        {"b": "tied"},
        {},
    )
