"""Progress of an annotation task: which units are complete, open or expired.

Status, funnels, question-table checks, signatures and the report count with ``undecided_units``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bench_assets.annotation.answers.validation import open_units
from bench_assets.annotation.tasks import (
    AnnotationTerms,
    Answer,
    UndecidedUnits,
    Unit,
    format_timestamp,
)


def undecided_units(
    units: Sequence[Unit],
    counted: Sequence[Answer],
    decided: Mapping[str, str] | None,
    terms: AnnotationTerms,
    now: datetime,
) -> UndecidedUnits:
    """Find the units that are neither kept nor dropped, without attention checks.

    Args:
        units: The published units; empty if none are published.
        counted: The answers that count.
        decided: Undecided units of the suite's decision table, with reasons; None if the suite has
            no such table: then units with too few answers are undecided.
        terms: Terms of the task, with its deadline.
        now: Current time, with a time zone.
    """
    if decided is None:
        lacking = open_units(units, counted).items()
        reasons = {name: f"{n} answers are missing" for name, n in lacking}
    else:
        checks = {unit.unit_id for unit in units if unit.gold}
        reasons = {name: reason for name, reason in decided.items() if name not in checks}
    return UndecidedUnits.at(now, terms.until, reasons)


_DAYS = 3  # window of the answer rate


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationProgress:
    """Progress of one task."""

    task: str
    units: int  # without attention checks
    done: int  # units with all answers they need
    in_work: int  # units with some answers, but too few
    untouched: int  # units without answers
    expired: int  # units with too few answers at the deadline
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
    """Compute the progress of a task, and its expected end at the pace of the last days.

    Args:
        task: Name of the task.
        units: The published units.
        answers: All answers; those that do not count have complaints.
        undecided: Its undecided units.
        now: Current time, with a time zone.
    """
    counted = [answer for answer in answers if not answer.complaint]
    wanted = {unit.unit_id: unit for unit in units if not unit.gold}
    open_, expired = (group.keys() & wanted.keys() for group in undecided)
    lacking = {name: n for name, n in open_units(units, counted).items() if name in open_}
    started = sum(n < wanted[name].needed for name, n in lacking.items())
    speed = _daily_answers(counted, now)
    missing = sum(lacking.values())
    rest = timedelta(days=missing / speed) if speed and missing else None
    return AnnotationProgress(
        task=task,
        units=len(wanted),
        done=len(wanted) - len(open_) - len(expired),
        in_work=len(open_) - len(lacking) + started,
        untouched=len(lacking) - started,
        expired=len(expired),
        answers=len(counted),
        refused=len(answers) - len(counted),
        lacking=missing,
        annotators=tuple(sorted({answer.person for answer in counted})),
        per_day=speed,
        finished_at=format_timestamp(now + rest) if rest is not None and rest.days < 36500 else "",
    )


def _daily_answers(counted: Sequence[Answer], now: datetime) -> float:
    """Answers per day over the last days, or since the first answer if that is later."""
    since = format_timestamp(now - timedelta(days=_DAYS))
    recent = sorted(answer.at for answer in counted if answer.at and answer.at >= since)
    if not recent:
        return 0.0
    first = datetime.fromisoformat(recent[0]).astimezone(UTC)
    answered_before = any(answer.at < since for answer in counted if answer.at)
    days = _DAYS if answered_before else max((now - first) / timedelta(days=1), 1 / 1440)
    return len(recent) / days
