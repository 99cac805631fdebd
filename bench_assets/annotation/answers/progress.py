"""Progress of an annotation task: which units are complete, open or expired.

Status, funnels, question-table checks, signatures and the report count with ``undecided_units``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bench_assets.annotation.answers.validation import open_units
from bench_assets.annotation.tasks import (
    AnnotationTerms,
    Answer,
    UndecidedUnits,
    Unit,
    format_timestamp,
)

_DAYS = 3  # days of the window in which the answer rate is measured
_MAX_DAYS_LEFT = 36_500  # days; a later end is not shown


def undecided_units(
    units: Sequence[Unit],
    counted: Sequence[Answer],
    table_reasons: Mapping[str, str] | None,
    terms: AnnotationTerms,
    now: datetime,
) -> UndecidedUnits:
    """Find the units that are neither kept nor dropped, without attention checks.

    Args:
        units: The published units; empty if none are published.
        counted: The answers that count.
        table_reasons: Undecided units of the suite's decision table, with reasons. None if the
            suite has no such table; then units with too few answers are undecided.
        terms: Terms of the task, with its deadline.
        now: Current time, with a time zone.
    """
    if table_reasons is None:
        n_missing = open_units(units, counted)
        reasons = {unit_id: f"missing answers: {n}" for unit_id, n in n_missing.items()}
    else:
        checks = {unit.unit_id for unit in units if unit.gold}
        reasons = {name: reason for name, reason in table_reasons.items() if name not in checks}
    if terms.until and format_timestamp(now) > terms.until:
        return UndecidedUnits(open={}, expired=reasons)
    return UndecidedUnits(open=reasons, expired={})


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationProgress:
    """Progress of one task."""

    task: str
    units: int  # without attention checks
    done: int  # decided units; without a decision table, those with all answers they need
    in_work: int  # undecided units with answers
    untouched: int  # undecided units without answers
    expired: int  # units still undecided at the deadline
    answers: int  # answers that count
    refused: int  # answers that do not count, including skipped ones
    lacking: int  # answers still needed
    annotators: tuple[str, ...]  # whose answers count
    per_day: float  # answers, over the last three days or since the first answer; 0: none
    finished_at: str  # expected end at this rate; "": done, or no recent answers


def progress_of(
    task: str,
    units: Sequence[Unit],
    answers: Sequence[Answer],
    undecided: UndecidedUnits,
    now: datetime,
) -> AnnotationProgress:
    """Compute the progress of a task, and its expected end at the rate of the last days.

    Of the ``answers``, those that do not count have complaints. ``now`` has a time zone.
    """
    counted = [answer for answer in answers if not answer.complaint]
    units_by_id = {unit.unit_id: unit for unit in units if not unit.gold}
    n_open = len(undecided.open.keys() & units_by_id.keys())
    n_expired = len(undecided.expired.keys() & units_by_id.keys())
    n_missing = {
        unit_id: n for unit_id, n in open_units(units, counted).items() if unit_id in undecided.open
    }
    n_started = sum(n < units_by_id[unit_id].needed for unit_id, n in n_missing.items())
    answers_per_day = _daily_answers(counted, now)
    total_missing = sum(n_missing.values())
    finished_at = ""
    if answers_per_day and total_missing:
        time_left = timedelta(days=total_missing / answers_per_day)
        if time_left.days < _MAX_DAYS_LEFT:
            finished_at = format_timestamp(now + time_left)
    return AnnotationProgress(
        task=task,
        units=len(units_by_id),
        done=len(units_by_id) - n_open - n_expired,
        in_work=n_open - len(n_missing) + n_started,
        untouched=len(n_missing) - n_started,
        expired=n_expired,
        answers=len(counted),
        refused=len(answers) - len(counted),
        lacking=total_missing,
        annotators=tuple(sorted({answer.person for answer in counted})),
        per_day=answers_per_day,
        finished_at=finished_at,
    )


def _daily_answers(counted: Sequence[Answer], now: datetime) -> float:
    """Answers per day over the last days, or since the first answer if that is later."""
    since = format_timestamp(now - timedelta(days=_DAYS))
    times = sorted(answer.at for answer in counted if answer.at)
    n_recent = sum(time >= since for time in times)
    if not times or times[0] < since:
        return n_recent / _DAYS
    elapsed = max(now - datetime.fromisoformat(times[0]), timedelta(minutes=1))
    return n_recent / (elapsed / timedelta(days=1))
