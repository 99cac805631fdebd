from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bench_assets.annotation.answers.progress import (
    AnnotationProgress,
    progress_of,
    undecided_units,
)
from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import AnnotationTerms, UndecidedUnits
from tests.annotation.answers.test_validation import FORM, GOLD, ITEM, vote

NO_DEADLINE = AnnotationTerms()
NOW = datetime(2026, 11, 22, 18, 0, tzinfo=UTC)
ITEMS = [replace(ITEM, unit_id=name, shown={"Text": name}) for name in "abc"]  # two answers each


def _progress(
    *answers: tuple[str, str, str], terms: AnnotationTerms = NO_DEADLINE
) -> AnnotationProgress:
    """The progress after answers, as unit, person and time; an attention check is a unit, too."""
    units = {unit.unit_id: unit for unit in ITEMS}
    votes = [
        replace(vote(person, unit=units[unit_id]), at=time, changed_at=time)
        for unit_id, person, time in answers
    ]
    resolved = resolve_answers(FORM, [*ITEMS, GOLD], votes)
    undecided = undecided_units([*ITEMS, GOLD], resolved.answers, None, terms, NOW)
    return progress_of("t/votes", [*ITEMS, GOLD], resolved.all, undecided, NOW)


def test_items_are_done_in_work_or_untouched() -> None:
    time = "2026-11-22T17:00:00.000Z"
    row = _progress(
        ("a", "ana", time), ("a", "ben", time), ("b", "ana", time), ("c", "author", time)
    )
    assert (row.units, row.done, row.in_work, row.untouched) == (3, 1, 1, 1)
    assert (row.answers, row.refused, row.lacking) == (3, 1, 3)
    assert row.annotators == ("ana", "ben")


def test_the_speed_of_the_last_three_days_gives_the_end() -> None:
    row = _progress(
        ("a", "ana", "2026-11-01T06:00:00.000Z"), ("a", "ben", "2026-11-20T18:00:00.000Z")
    )
    assert row.per_day == 1 / 3
    assert row.finished_at == "2026-12-04T18:00:00.000Z"  # four are lacking: twelve days


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([], id="no answers"),
        pytest.param([("a", "ana", "2026-11-01T06:00:00.000Z")], id="none in the last days"),
        pytest.param([("a", "ana", "")], id="an answer without a time"),
    ],
)
def test_the_end_without_recent_answers_is_unknown(answers: list[tuple[str, str, str]]) -> None:
    row = _progress(*answers)
    assert (row.per_day, row.finished_at) == (0, "")


def test_undecided_units_expire_at_the_deadline_and_lack_no_answers() -> None:
    time = "2026-11-22T17:00:00.000Z"
    answers = [("a", "ana", time), ("a", "ben", time), ("b", "ana", time)]
    until = AnnotationTerms(until="2026-11-22T17:59:59.999Z")
    row = _progress(*answers, terms=until)
    assert (row.done, row.in_work, row.untouched, row.expired) == (1, 0, 0, 2)
    assert (row.lacking, row.finished_at) == (0, "")
    assert _progress(*answers, terms=AnnotationTerms(until="2026-11-22T18:00:00.000Z")).expired == 0


def test_too_little_decided_at_the_deadline_is_refused() -> None:
    missing = {"b": "missing answers: 1", "c": "missing answers: 2"}
    undecided = UndecidedUnits(open={}, expired=missing)
    assert undecided.shortage(3, AnnotationTerms(until="2026-11-22", least_decided=1 / 3)) == ""
    assert undecided.shortage(3, AnnotationTerms(until="2026-11-22", least_decided=0.5)) == (
        "1 of 3 units were decided by the deadline, 2026-11-22 (expected at least 50%)."
        " Extend until, or lower needed or least_decided"
    )
    assert UndecidedUnits(open=missing, expired={}).shortage(3, AnnotationTerms()) == ""


def test_the_suite_s_decisions_name_the_open_units_without_attention_checks() -> None:
    decided = {"b": "tied", GOLD.unit_id: "0 of 2 voted"}
    undecided = undecided_units([*ITEMS, GOLD], [], decided, NO_DEADLINE, NOW)
    assert undecided == UndecidedUnits(open={"b": "tied"}, expired={})
