"""Reservations: whether an annotator may answer a unit."""

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime

from bench_assets.annotation.tasks.forms import Form, Values, moment
from resources.annotation.web.backend import room_again
from resources.annotation.web.store import (
    ShownItem,
    read_form,
    read_item,
    read_said,
    written_values,
)

HELD_BY_OTHERS = """(SELECT count(*) FROM places o WHERE o.item = i.id AND o.person <> :person
    AND o.until > :now AND (o.word IS NULL OR o.skipped))"""
"""Places that others have and have not answered yet, of an item ``i``."""

_HOLD = """
INSERT INTO places (item, person, shown, until) VALUES (:item, :person, :now, :until)
ON CONFLICT (item, person) DO UPDATE SET until = max(until, excluded.until),
shown = CASE WHEN until > excluded.shown THEN shown ELSE excluded.shown END
"""
_SEAT = f"""
SELECT i.id, i.form, i.item_id, i.told, f.told AS form_told, f.closed,
    i.asked AND i.version = f.version AS is_asked, p.shown, p.until, p.word, p.skipped,
    i.room > {HELD_BY_OTHERS} AS is_free, a.said, a.at, a.changed_at,
    EXISTS (SELECT 1 FROM barred b WHERE b.item = i.id AND b.person = :person) AS is_barred
FROM items i JOIN forms f ON i.form = f.id
JOIN places p ON p.item = i.id AND p.person = :person LEFT JOIN answers a ON a.id = p.word
WHERE i.id = :item
"""
_SAY = """
INSERT INTO answers (item, person, said, at, changed_at, seconds, skipped, proposed_by)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
"""
_MARK = """
INSERT INTO marks SELECT form, :person, position FROM items WHERE id = :item
ON CONFLICT DO UPDATE SET position = max(position, excluded.position)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A person before an item that they were given."""

    person: str
    form: Form
    item: ShownItem
    refusal: str  # why they may say nothing of it (any more); "" if they may
    is_closed: bool
    in_time: bool  # the place is theirs, and nothing was said yet
    shown: float  # when, in s since 1970
    said: Values | None  # what they said last; None: nothing yet
    skipped: bool
    first_at: str  # of the first word; "": none yet
    last_at: str


def seat_of(db: sqlite3.Connection, item: int, person: str, now: float) -> Seat | None:
    """Find a person before an item; None if it was never given to them."""
    found = db.execute(_SEAT, {"item": item, "person": person, "now": now})
    row = found.fetchone()
    if row is None:
        return None
    told = dict(zip([column[0] for column in found.description], row, strict=True))
    has_said = told["word"] is not None
    return Seat(
        person=person,
        form=read_form(told["form_told"]),
        item=read_item(*row[:4]),
        refusal=_refusal(told, now),
        is_closed=bool(told["closed"]),
        in_time=not has_said and told["until"] > now,
        shown=told["shown"],
        said=read_said(told["said"]) if has_said else None,
        skipped=bool(told["skipped"]),
        first_at=told["at"] or "",
        last_at=told["changed_at"] or "",
    )


def hold(db: sqlite3.Connection, item: int, person: str, now: float, until: float) -> None:
    """Keep a place for a person; it was shown now, unless it is still theirs from before."""
    db.execute(_HOLD, {"item": item, "person": person, "now": now, "until": until})


def add_word(
    db: sqlite3.Connection, seat: Seat, now: float, values: Values, *, skipped: bool
) -> None:
    """Add what a person says to what was said."""
    at = max(moment(datetime.fromtimestamp(now, UTC)), seat.last_at)  # clocks may go back
    item, person = seat.item.number, seat.person
    ((word,),) = db.execute(
        _SAY,
        (item, person, written_values(values), seat.first_at or at, at,
         max(0.0, round(now - seat.shown, 1)), skipped, seat.item.proposed_by),
    )  # fmt: skip
    db.execute(
        "UPDATE places SET word = ?, skipped = ?, until = 0 WHERE item = ? AND person = ?",
        (word, skipped, item, person),
    )
    db.execute(_MARK, {"item": item, "person": person})
    room_again(db, item)


def _refusal(told: dict[str, object], now: float) -> str:
    if not told["is_asked"]:
        return "This item is not asked any more, or was changed."
    if told["is_barred"]:
        return "This item is of your own making: others answer it."
    answered = told["word"] is not None and not told["skipped"]
    if answered or float(str(told["until"])) > now or told["is_free"]:
        return ""
    return "Enough others have answered this item in the meantime."
