"""Reservations: whether an annotator may answer a unit."""

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime

from bench_assets.annotation.tasks import AnnotationTask, Values, moment
from resources.annotation.web.backend import room_again
from resources.annotation.web.store import (
    ShownUnit,
    read_said,
    read_task,
    read_unit,
    written_values,
)

HELD_BY_OTHERS = """(SELECT count(*) FROM places o WHERE o.unit = i.id AND o.person <> :person
    AND o.until > :now AND (o.word IS NULL OR o.skipped))"""
"""Places that others have and have not answered yet, of a unit ``i``."""

_HOLD = """
INSERT INTO places (unit, person, shown, until) VALUES (:unit, :person, :now, :until)
ON CONFLICT (unit, person) DO UPDATE SET until = max(until, excluded.until),
shown = CASE WHEN until > excluded.shown THEN shown ELSE excluded.shown END
"""
_SEAT = f"""
SELECT i.id, i.task, i.unit_id, i.told, f.told AS form_told, f.closed,
    i.asked AND i.version = f.version AS is_asked, p.shown, p.until, p.word, p.skipped,
    i.room > {HELD_BY_OTHERS} AS is_free, a.said, a.at, a.changed_at,
    EXISTS (SELECT 1 FROM barred b WHERE b.unit = i.id AND b.person = :person) AS is_barred
FROM units i JOIN tasks f ON i.task = f.id
JOIN places p ON p.unit = i.id AND p.person = :person LEFT JOIN answers a ON a.id = p.word
WHERE i.id = :unit
"""
_SAY = """
INSERT INTO answers (unit, person, said, at, changed_at, seconds, skipped, proposed_by)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
"""
_MARK = """
INSERT INTO marks SELECT task, :person, position FROM units WHERE id = :unit
ON CONFLICT DO UPDATE SET position = max(position, excluded.position)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A person's reservation of a unit."""

    person: str
    task: AnnotationTask
    unit: ShownUnit
    refusal: str  # why they may say nothing of it (any more); "" if they may
    is_closed: bool
    in_time: bool  # the place is theirs, and nothing was said yet
    shown: float  # when, in s since 1970
    said: Values | None  # what they said last; None: nothing yet
    skipped: bool
    first_at: str  # of the first word; "": none yet
    last_at: str


def seat_of(db: sqlite3.Connection, unit: int, person: str, now: float) -> Seat | None:
    """Find a person's reservation of a unit; None without one."""
    found = db.execute(_SEAT, {"unit": unit, "person": person, "now": now})
    row = found.fetchone()
    if row is None:
        return None
    told = dict(zip([column[0] for column in found.description], row, strict=True))
    has_said = told["word"] is not None
    return Seat(
        person=person,
        task=read_task(told["form_told"]),
        unit=read_unit(*row[:4]),
        refusal=_refusal(told, now),
        is_closed=bool(told["closed"]),
        in_time=not has_said and told["until"] > now,
        shown=told["shown"],
        said=read_said(told["said"]) if has_said else None,
        skipped=bool(told["skipped"]),
        first_at=told["at"] or "",
        last_at=told["changed_at"] or "",
    )


def hold(db: sqlite3.Connection, unit: int, person: str, now: float, until: float) -> None:
    """Reserve a unit for a person from now on, or extend an existing reservation."""
    db.execute(_HOLD, {"unit": unit, "person": person, "now": now, "until": until})


def add_word(
    db: sqlite3.Connection, seat: Seat, now: float, values: Values, *, skipped: bool
) -> None:
    """Add an answer to a person's answers."""
    at = max(moment(datetime.fromtimestamp(now, UTC)), seat.last_at)  # clocks may go back
    unit, person = seat.unit.number, seat.person
    ((word,),) = db.execute(
        _SAY,
        (unit, person, written_values(values), seat.first_at or at, at,
         max(0.0, round(now - seat.shown, 1)), skipped, seat.unit.proposed_by),
    )  # fmt: skip
    db.execute(
        "UPDATE places SET word = ?, skipped = ?, until = 0 WHERE unit = ? AND person = ?",
        (word, skipped, unit, person),
    )
    db.execute(_MARK, {"unit": unit, "person": person})
    room_again(db, unit)


def _refusal(told: dict[str, object], now: float) -> str:
    if not told["is_asked"]:
        return "This unit is not asked any more, or was changed."
    if told["is_barred"]:
        return "This unit is of your own making: others answer it."
    answered = told["word"] is not None and not told["skipped"]
    if answered or float(str(told["until"])) > now or told["is_free"]:
        return ""
    return "Enough others have answered this unit in the meantime."
