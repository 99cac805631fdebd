"""Assignments: which unit an annotator is shown next, and whether they may answer it.

An annotator who sees a unit holds a reservation (``LEASE``). It expires without an answer, becomes
permanent with one, and is released by a skip.
"""

import sqlite3
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from bench_assets.annotation.tasks import AnnotationTask, AnnotationTerms, Values, format_timestamp
from bench_resources.annotation.web.backend import INSERT_ANSWER, update_room
from bench_resources.annotation.web.store import (
    PagesStore,
    ShownUnit,
    parse_task,
    parse_unit,
    parse_values,
    serialize_values,
)

HELD_BY_OTHERS = """(SELECT count(*) FROM places o WHERE o.unit = i.id AND o.person <> :person
    AND o.until > :now AND (o.word IS NULL OR o.skipped))"""
"""SQL: reservations of unit ``i`` by other people who have not answered it yet."""

_UPSERT_RESERVATION = """
INSERT INTO places (unit, person, shown, until) VALUES (:unit, :person, :now, :until)
ON CONFLICT (unit, person) DO UPDATE SET until = max(until, excluded.until),
shown = CASE WHEN until > excluded.shown THEN shown ELSE excluded.shown END
"""
_SELECT_RESERVATION = f"""
SELECT i.id, i.task, i.unit_id, i.told, f.told AS form_told, f.closed,
    i.asked AND i.version = f.version AS is_asked, p.shown, p.until, p.word, p.skipped,
    i.room > {HELD_BY_OTHERS} AS is_free, a.said, a.at, a.changed_at,
    EXISTS (SELECT 1 FROM barred b WHERE b.unit = i.id AND b.person = :person) AS is_barred
FROM units i JOIN tasks f ON i.task = f.id
JOIN places p ON p.unit = i.id AND p.person = :person LEFT JOIN answers a ON a.id = p.word
WHERE i.id = :unit
"""
_UPSERT_MARK = """
INSERT INTO marks SELECT task, :person, position FROM units WHERE id = :unit
ON CONFLICT DO UPDATE SET position = max(position, excluded.position)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A person's reservation of a unit."""

    person: str
    task: AnnotationTask
    unit: ShownUnit
    refusal: str  # reason why the person may not answer; "" if they may
    is_closed: bool
    in_time: bool  # reserved and not answered yet
    shown: float  # s since 1970
    answer: Values | None  # last answer; None: none yet
    skipped: bool
    first_at: str  # time of the first answer; "": none yet
    last_at: str


def find_reservation(
    db: sqlite3.Connection, unit: int, person: str, now: float
) -> Reservation | None:
    """Find a person's reservation of a unit; None without one."""
    reservation = db.execute(_SELECT_RESERVATION, {"unit": unit, "person": person, "now": now})
    row = reservation.fetchone()
    if row is None:
        return None
    record = dict(zip([column[0] for column in reservation.description], row, strict=True))
    has_answer = record["word"] is not None
    return Reservation(
        person=person,
        task=parse_task(record["form_told"]),
        unit=parse_unit(*row[:4]),
        refusal=_refusal(record, now),
        is_closed=bool(record["closed"]),
        in_time=not has_answer and record["until"] > now,
        shown=record["shown"],
        answer=parse_values(record["said"]) if has_answer else None,
        skipped=bool(record["skipped"]),
        first_at=record["at"] or "",
        last_at=record["changed_at"] or "",
    )


def insert_answer(
    db: sqlite3.Connection, seat: Reservation, now: float, values: Values, *, skipped: bool
) -> None:
    """Store an answer of a person, after any earlier ones."""
    at = max(format_timestamp(datetime.fromtimestamp(now, UTC)), seat.last_at)  # clocks may go back
    unit, person = seat.unit.number, seat.person
    ((word,),) = db.execute(
        INSERT_ANSWER,
        (unit, person, serialize_values(values), seat.first_at or at, at,
         max(0.0, round(now - seat.shown, 1)), skipped),
    )  # fmt: skip
    db.execute(
        "UPDATE places SET word = ?, skipped = ?, until = 0 WHERE unit = ? AND person = ?",
        (word, skipped, unit, person),
    )
    db.execute(_UPSERT_MARK, {"unit": unit, "person": person})
    update_room(db, unit)


def _refusal(record: dict[str, object], now: float) -> str:
    if not record["is_asked"]:
        return "This unit was withdrawn or changed."
    if record["is_barred"]:
        return "You wrote this unit yourself: other people answer it."
    answered = record["word"] is not None and not record["skipped"]
    if answered or float(str(record["until"])) > now or record["is_free"]:
        return ""
    return "Enough other people have answered this unit in the meantime."


LEASE = 20 * 60.0
"""s that a reservation lasts; the page extends it while the annotator writes."""

_NOT_BARRED = "NOT EXISTS (SELECT 1 FROM barred b WHERE b.unit = i.id AND b.person = :person)"
_SELECT_NEXT = f"""
SELECT i.id FROM units i WHERE i.task = :task AND i.asked AND i.room > 0 AND i.position > :after
AND NOT EXISTS (SELECT 1 FROM places p WHERE p.unit = i.id AND p.person = :person
    AND p.word IS NOT NULL)
AND {_NOT_BARRED}
AND i.room > {HELD_BY_OTHERS} ORDER BY i.position LIMIT 1
"""
_SELECT_MARK = "SELECT position FROM marks WHERE task = :task AND person = :person"
_SELECT_RESERVED = f"""
SELECT i.id FROM places p JOIN units i ON p.unit = i.id WHERE p.person = :person
AND i.task = :task AND i.asked AND p.word IS NULL AND p.until > :now AND {_NOT_BARRED}
ORDER BY i.position LIMIT 1
"""
_COUNT_OPEN = "SELECT count(*) FROM units i WHERE i.task = :task AND i.asked AND i.room > 0"
_COUNT_BARRED = """
SELECT count(*) FROM barred b JOIN units i ON b.unit = i.id
WHERE b.person = :person AND i.task = :task AND i.asked AND i.room > 0
"""
_COUNT_DONE = """
SELECT count(*), count(*) FILTER (WHERE NOT p.skipped AND NOT i.gold),
    count(*) FILTER (WHERE i.room > 0)
FROM places p JOIN units i ON p.unit = i.id
WHERE p.person = :person AND i.task = :task AND i.asked AND p.word IS NOT NULL
"""
_SELECT_LAST_ANSWERS = """
SELECT i.id, i.task, i.unit_id, i.told, a.said, a.skipped, a.changed_at
FROM places p JOIN units i ON p.unit = i.id JOIN answers a ON p.word = a.id
WHERE p.person = ? AND i.task = ? AND i.asked ORDER BY a.id DESC
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTask:
    """An open task of a person, with its counts."""

    number: int
    task: AnnotationTask
    answered: int  # present units answered or skipped
    left: int  # units that the person may still get
    is_over: str  # reason why the person gets no more units; "" while they do


class LastAnswer(NamedTuple):
    """A person's last answer to a unit."""

    unit: ShownUnit
    values: Values
    skipped: bool
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignments:
    """Assigns units and stores answers.

    All methods raise ``AnnotationError`` if the file cannot be used.
    """

    store: PagesStore
    terms: Callable[[], Mapping[str, AnnotationTerms]] = dict  # by task
    lease: float = LEASE  # s
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def tasks(self, person: str, only: Collection[str] = ()) -> list[OpenTask]:
        """List the tasks that are open to a person, optionally restricted to ``only``."""
        if not self.store.exists:
            return []
        with self.store.reading() as db:
            rows = db.execute("SELECT id, told, closed FROM tasks ORDER BY name").fetchall()
            tasks = [
                (number, parse_task(serialized), bool(closed))
                for number, serialized, closed in rows
            ]
            return [
                self._open_task(db, number, task, person, is_closed=closed)
                for number, task, closed in tasks
                if not only or task.name in only
            ]

    def task(self, number: int, person: str) -> OpenTask | None:
        """Find a task by number; None if there is none."""
        with self.store.reading() as db:
            row = db.execute("SELECT told, closed FROM tasks WHERE id = ?", (number,)).fetchone()
            if row is None:
                return None
            return self._open_task(db, number, parse_task(row[0]), person, is_closed=bool(row[1]))

    def next_unit(self, task: OpenTask, person: str) -> int | None:
        """Assign the next unit of a task, or return the present one; None if none is left."""
        if task.is_over:
            return None
        with self.store.writing() as db:
            parameters = {"task": task.number, "person": person, "now": self._now()}
            row = db.execute(_SELECT_RESERVED, parameters).fetchone()
            mark = db.execute(_SELECT_MARK, parameters).fetchone() or (-1,)
            for after in (mark[0], -1):  # earlier units come again after the rest
                row = row or db.execute(_SELECT_NEXT, {**parameters, "after": after}).fetchone()
            if row:
                self._reserve(db, row[0], person)
        return int(row[0]) if row else None

    def reservation(self, unit: int, person: str) -> Reservation | None:
        """Find a person's reservation of a unit; None without one."""
        with self.store.reading() as db:
            return self._find_reservation(db, unit, person)

    def keep(self, unit: int, person: str) -> Reservation | None:
        """Find a person's reservation, and extend it if they may still answer."""
        with self.store.writing() as db:
            reservation = self._find_reservation(db, unit, person)
            if reservation and not reservation.refusal:
                self._reserve(db, unit, person)
            return reservation

    def say(self, seat: Reservation, values: Values, *, skipped: bool = False) -> str:
        """Store an answer; idempotent.

        An answer sent during a reservation is stored even if the unit was withdrawn or the task
        closed.

        Returns:
            Reason why it was refused; "" if it was stored.
        """
        with self.store.writing() as db:
            current = self._find_reservation(db, seat.unit.number, seat.person)
            if current is None or (current.refusal and not current.in_time):
                return current.refusal if current else "This unit is not assigned to you."
            if current.answer != values or current.skipped != skipped:
                insert_answer(db, current, self._now(), values, skipped=skipped)
            return ""

    def words(self, task: OpenTask, person: str) -> list[LastAnswer]:
        """A person's last answers to the present units, newest first."""
        with self.store.reading() as db:
            rows = db.execute(_SELECT_LAST_ANSWERS, (person, task.number)).fetchall()
        return [
            LastAnswer(parse_unit(*row[:4]), parse_values(row[4]), bool(row[5]), row[6])
            for row in rows
        ]

    def record_upload(self, person: str, image: str) -> None:
        """Record a person's upload, which only they may see and use in answers."""
        with self.store.writing() as db:
            db.execute("INSERT OR IGNORE INTO uploads VALUES (?, ?)", (person, image))

    def brought(self, person: str, image: str) -> bool:
        """Whether a person uploaded an image."""
        with self.store.reading() as db:
            where = "person = ? AND image = ?"
            row = db.execute(f"SELECT 1 FROM uploads WHERE {where}", (person, image))
            return row.fetchone() is not None

    def _open_task(
        self,
        db: sqlite3.Connection,
        number: int,
        task: AnnotationTask,
        person: str,
        *,
        is_closed: bool,
    ) -> OpenTask:
        parameters = {"task": number, "person": person}
        ((n_open,),), ((barred,),) = (
            db.execute(_COUNT_OPEN, parameters),
            db.execute(_COUNT_BARRED, parameters),
        )
        ((answered, counted, also_open),) = db.execute(_COUNT_DONE, parameters)
        left = max(0, n_open - barred - also_open)
        most = self._terms(task).most_answers
        end_reason = self._over(task, is_closed=is_closed)
        if not end_reason and most is not None and counted >= most:
            end_reason = f"You gave {counted} answers, the most that one person may give."
        return OpenTask(number=number, task=task, answered=answered, left=left, is_over=end_reason)

    def _terms(self, task: AnnotationTask) -> AnnotationTerms:
        return self.terms().get(task.name, AnnotationTerms())

    def _over(self, task: AnnotationTask, *, is_closed: bool) -> str:
        until = self._terms(task).until
        if until and format_timestamp(self.clock()) > until:
            return f"This task ended on {until[:16].replace('T', ', ')} UTC."
        return "This task is closed." if is_closed else ""

    def _find_reservation(
        self, db: sqlite3.Connection, unit: int, person: str
    ) -> Reservation | None:
        reservation = find_reservation(db, unit, person, self._now())
        end_reason = (
            self._over(reservation.task, is_closed=reservation.is_closed) if reservation else ""
        )
        return (
            replace(reservation, refusal=end_reason) if reservation and end_reason else reservation
        )

    def _reserve(self, db: sqlite3.Connection, unit: int, person: str) -> None:
        now = self._now()
        db.execute(
            _UPSERT_RESERVATION,
            {"unit": unit, "person": person, "now": now, "until": now + self.lease},
        )

    def _now(self) -> float:
        return self.clock().timestamp()
