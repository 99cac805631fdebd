"""Assignments: which unit an annotator is shown next.

Whoever is shown an item has a place for a while (``LEASE``). A place that nobody answered in time
is another's; with an answer it is taken for good, a skip gives it back.
"""

import sqlite3
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NamedTuple

from bench_assets.annotation.answers.resolution import Terms
from bench_assets.annotation.tasks.forms import Form, Values, moment
from resources.annotation.web.reservations import HELD_BY_OTHERS, Seat, add_word, hold, seat_of
from resources.annotation.web.store import ShownItem, Store, read_form, read_item, read_said

LEASE = 20 * 60.0
"""s that a place is kept; while somebody writes, the page asks for as much again."""

_NEXT = f"""
SELECT i.id FROM items i WHERE i.form = :form AND i.asked AND i.room > 0 AND i.position > :after
AND NOT EXISTS (SELECT 1 FROM places p WHERE p.item = i.id AND p.person = :person
    AND p.word IS NOT NULL)
AND NOT EXISTS (SELECT 1 FROM barred b WHERE b.item = i.id AND b.person = :person)
AND i.room > {HELD_BY_OTHERS} ORDER BY i.position LIMIT 1
"""
_MARK = "SELECT position FROM marks WHERE form = :form AND person = :person"
_THEIRS = """
SELECT i.id FROM places p JOIN items i ON p.item = i.id WHERE p.person = :person
AND i.form = :form AND i.asked AND p.word IS NULL AND p.until > :now ORDER BY i.position LIMIT 1
"""
_OPEN = "SELECT count(*) FROM items i WHERE i.form = :form AND i.asked AND i.room > 0"
_BARRED = """
SELECT count(*) FROM barred b JOIN items i ON b.item = i.id
WHERE b.person = :person AND i.form = :form AND i.asked AND i.room > 0
"""
_DONE = """
SELECT count(*), count(*) FILTER (WHERE NOT p.skipped AND NOT i.gold),
    count(*) FILTER (WHERE i.room > 0)
FROM places p JOIN items i ON p.item = i.id
WHERE p.person = :person AND i.form = :form AND i.asked AND p.word IS NOT NULL
"""
_WORDS = """
SELECT i.id, i.form, i.item_id, i.told, a.said, a.skipped, a.changed_at
FROM places p JOIN items i ON p.item = i.id JOIN answers a ON p.word = a.id
WHERE p.person = ? AND i.form = ? AND i.asked ORDER BY a.id DESC
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenForm:
    """A form as a person finds it."""

    number: int
    form: Form
    answered: int  # or skipped, of what is asked now
    left: int  # that they may still be shown
    is_over: str  # why they are shown nothing more of it; "" while they are


class Word(NamedTuple):
    """What a person said last of an item."""

    item: ShownItem
    values: Values
    skipped: bool
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Hands out items and takes answers.

    Every verb raises ``PeopleError`` where the file cannot be used.
    """

    store: Store
    terms: Mapping[str, Terms] = field(default_factory=dict)  # by form
    lease: float = LEASE  # s
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def forms(self, person: str, only: Collection[str] = ()) -> list[OpenForm]:
        """List the forms that a person may fill in; with ``only``, of those."""
        if not self.store.exists:
            return []
        with self.store.reading() as db:
            rows = db.execute("SELECT id, told, closed FROM forms ORDER BY name").fetchall()
            forms = [(number, read_form(told), bool(closed)) for number, told, closed in rows]
            return [
                self._open_form(db, number, form, person, is_closed=closed)
                for number, form, closed in forms
                if not only or form.name in only
            ]

    def form(self, number: int, person: str) -> OpenForm | None:
        """Find one of them."""
        with self.store.reading() as db:
            row = db.execute("SELECT told, closed FROM forms WHERE id = ?", (number,)).fetchone()
            if row is None:
                return None
            return self._open_form(db, number, read_form(row[0]), person, is_closed=bool(row[1]))

    def next_item(self, form: OpenForm, person: str) -> int | None:
        """Give a person the next item of a form, or the one that they have; None: no more."""
        if form.is_over:
            return None
        with self.store.writing() as db:
            asked = {"form": form.number, "person": person, "now": self._now()}
            found = db.execute(_THEIRS, asked).fetchone()
            mark = db.execute(_MARK, asked).fetchone() or (-1,)
            for after in (mark[0], -1):  # what lies before is looked through once the rest is done
                found = found or db.execute(_NEXT, {**asked, "after": after}).fetchone()
            if found:
                self._hold(db, found[0], person)
        return int(found[0]) if found else None

    def seat(self, item: int, person: str) -> Seat | None:
        """Find a person before an item; None if it was not given to them."""
        with self.store.reading() as db:
            return self._seat(db, item, person)

    def keep(self, item: int, person: str) -> Seat | None:
        """Find them, and keep their place for as long again, where they may still answer."""
        with self.store.writing() as db:
            seat = self._seat(db, item, person)
            if seat and not seat.refusal:
                self._hold(db, item, person)
            return seat

    def say(self, seat: Seat, values: Values, *, skipped: bool = False) -> str:
        """Add what a person says; the same again adds nothing.

        What is sent while the place is theirs is kept, whatever was withdrawn or closed meanwhile.

        Returns:
            Why it cannot be taken; "" if it was.
        """
        with self.store.writing() as db:
            now = self._seat(db, seat.item.number, seat.person)
            if now is None or (now.refusal and not now.in_time):
                return now.refusal if now else "This item was not given to you."
            if now.said != values or now.skipped != skipped:
                add_word(db, now, self._now(), values, skipped=skipped)
            return ""

    def words(self, form: OpenForm, person: str) -> list[Word]:
        """List what a person said last of each item that is asked; the newest first."""
        with self.store.reading() as db:
            rows = db.execute(_WORDS, (person, form.number)).fetchall()
        return [Word(read_item(*row[:4]), read_said(row[4]), bool(row[5]), row[6]) for row in rows]

    def keep_upload(self, person: str, image: str) -> None:
        """Note that a person brought an image: it may be shown to them, and be their answer."""
        with self.store.writing() as db:
            db.execute("INSERT OR IGNORE INTO uploads VALUES (?, ?)", (person, image))

    def brought(self, person: str, image: str) -> bool:
        """Whether a person brought an image."""
        with self.store.reading() as db:
            where = "person = ? AND image = ?"
            found = db.execute(f"SELECT 1 FROM uploads WHERE {where}", (person, image))
            return found.fetchone() is not None

    def _open_form(
        self, db: sqlite3.Connection, number: int, form: Form, person: str, *, is_closed: bool
    ) -> OpenForm:
        asked = {"form": number, "person": person}
        ((n_open,),), ((barred,),) = db.execute(_OPEN, asked), db.execute(_BARRED, asked)
        ((answered, counted, also_open),) = db.execute(_DONE, asked)
        left = max(0, n_open - barred - also_open)
        most = self.terms.get(form.name, Terms()).most_answers
        over = self._over(form, is_closed=is_closed)
        if not over and most is not None and counted >= most:
            over = f"You gave {counted} answers: no more are asked of one person."
        return OpenForm(number=number, form=form, answered=answered, left=left, is_over=over)

    def _over(self, form: Form, *, is_closed: bool) -> str:
        until = self.terms.get(form.name, Terms()).until
        if until and moment(self.clock()) > until:
            return f"The time for this form ended: {until[:16].replace('T', ', ')} UTC."
        return "This form is closed." if is_closed else ""

    def _seat(self, db: sqlite3.Connection, item: int, person: str) -> Seat | None:
        seat = seat_of(db, item, person, self._now())
        over = self._over(seat.form, is_closed=seat.is_closed) if seat else ""
        return replace(seat, refusal=over) if seat and over else seat

    def _hold(self, db: sqlite3.Connection, item: int, person: str) -> None:
        hold(db, item, person, self._now(), self._now() + self.lease)

    def _now(self) -> float:
        return self.clock().timestamp()
