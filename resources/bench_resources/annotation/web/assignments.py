"""Assignments: which unit an annotator is shown next, and whether they may answer it.

An annotator who sees a unit holds a reservation (``LEASE``). It expires without an answer, becomes
permanent with one, and is released by a skip.
"""

import sqlite3
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

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

_HELD_BY_OTHERS = """(SELECT count(*) FROM places o WHERE o.unit = i.id AND o.person <> :person
    AND o.until > :now AND (o.word IS NULL OR o.skipped))"""
"""SQL: number of reservations of unit ``i`` by other people who have not answered it yet."""

_UPSERT_RESERVATION = """
INSERT INTO places (unit, person, shown, until) VALUES (:unit, :person, :now, :until)
ON CONFLICT (unit, person) DO UPDATE SET until = max(until, excluded.until),
shown = CASE WHEN until > excluded.shown THEN shown ELSE excluded.shown END
"""
_SELECT_RESERVATION = f"""
SELECT i.id, i.task, i.unit_id, i.told, f.told AS form_told, f.closed,
    i.asked AND i.version = f.version AS is_asked, p.shown, p.until, p.word, p.skipped,
    i.room > {_HELD_BY_OTHERS} AS is_free, a.said, a.at, a.changed_at,
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
    is_active: bool  # not answered yet, and not expired
    shown: float  # s since 1970
    answer: Values | None  # last answer; None: none yet
    skipped: bool
    first_at: str  # time of the first answer; "": none yet
    last_at: str


def _select_reservation(
    db: sqlite3.Connection, unit_row: int, person: str, now: float
) -> Reservation | None:
    cursor = db.execute(_SELECT_RESERVATION, {"unit": unit_row, "person": person, "now": now})
    row = cursor.fetchone()
    if row is None:
        return None
    columns = [name for name, *_ in cursor.description]
    record = dict(zip(columns, row, strict=True))
    has_answer = record["word"] is not None
    return Reservation(
        person=person,
        task=parse_task(record["form_told"]),
        unit=parse_unit(record["id"], record["task"], record["unit_id"], record["told"]),
        refusal=_refusal(record, now),
        is_closed=bool(record["closed"]),
        is_active=not has_answer and record["until"] > now,
        shown=record["shown"],
        answer=parse_values(record["said"]) if has_answer else None,
        skipped=bool(record["skipped"]),
        first_at=record["at"] or "",
        last_at=record["changed_at"] or "",
    )


def _insert_answer(
    db: sqlite3.Connection, reservation: Reservation, now: float, values: Values, *, skipped: bool
) -> None:
    time = format_timestamp(datetime.fromtimestamp(now, UTC))
    time = max(time, reservation.last_at)  # the clock may have gone back
    unit_row, person = reservation.unit.number, reservation.person
    ((answer_row,),) = db.execute(
        INSERT_ANSWER,
        (unit_row, person, serialize_values(values), reservation.first_at or time, time,
         max(0.0, round(now - reservation.shown, 1)), skipped),
    )  # fmt: skip
    db.execute(
        "UPDATE places SET word = ?, skipped = ?, until = 0 WHERE unit = ? AND person = ?",
        (answer_row, skipped, unit_row, person),
    )
    db.execute(_UPSERT_MARK, {"unit": unit_row, "person": person})
    update_room(db, unit_row)


def _refusal(record: dict[str, Any], now: float) -> str:
    """Reason why a unit may not be answered; "" if it may."""
    if not record["is_asked"]:
        return "This unit was withdrawn or changed."
    if record["is_barred"]:
        return "You wrote this unit yourself: other people answer it."
    has_answered = record["word"] is not None and not record["skipped"]
    if has_answered or record["until"] > now or record["is_free"]:
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
AND i.room > {_HELD_BY_OTHERS} ORDER BY i.position LIMIT 1
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
class PersonTask:
    """A published task, with the counts of a person."""

    number: int  # row id
    task: AnnotationTask
    answered: int  # present units answered or skipped
    left: int  # units that the person may still get
    end_reason: str  # reason why the person gets no more units; "" while they do


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

    def tasks(self, person: str, only: Collection[str] = ()) -> list[PersonTask]:
        """List every published task, also the closed ones; of several in ``only``, only these."""
        if not self.store.exists:
            return []
        with self.store.reading() as db:
            rows = db.execute("SELECT id, told, closed FROM tasks ORDER BY name").fetchall()
            parsed = [(number, parse_task(told), bool(closed)) for number, told, closed in rows]
            return [
                self._person_task(db, number, task, person, is_closed=is_closed)
                for number, task, is_closed in parsed
                if not only or task.name in only
            ]

    def task(self, number: int, person: str) -> PersonTask | None:
        """Find a task by number; None if there is none."""
        with self.store.reading() as db:
            row = db.execute("SELECT told, closed FROM tasks WHERE id = ?", (number,)).fetchone()
            if row is None:
                return None
            serialized, is_closed = row
            task = parse_task(serialized)
            return self._person_task(db, number, task, person, is_closed=bool(is_closed))

    def next_unit(self, task: PersonTask, person: str) -> int | None:
        """Keep the assigned unit, or assign the next; returns its row id, None if none is left."""
        if task.end_reason:
            return None
        with self.store.writing() as db:
            parameters = {"task": task.number, "person": person, "now": self._now()}
            row = db.execute(_SELECT_RESERVED, parameters).fetchone()
            (last_position,) = db.execute(_SELECT_MARK, parameters).fetchone() or (-1,)
            for after in (last_position, -1):  # units before it come again after the rest
                row = row or db.execute(_SELECT_NEXT, {**parameters, "after": after}).fetchone()
            if row is None:
                return None
            (unit_row,) = row
            self._reserve(db, unit_row, person)
        return int(unit_row)

    def reservation(self, unit_row: int, person: str) -> Reservation | None:
        """Find a person's reservation of a unit; None without one."""
        with self.store.reading() as db:
            return self._find_reservation(db, unit_row, person)

    def extend_reservation(self, unit_row: int, person: str) -> Reservation | None:
        """Find a person's reservation, and extend it if they may still answer."""
        with self.store.writing() as db:
            reservation = self._find_reservation(db, unit_row, person)
            if reservation and not reservation.refusal:
                self._reserve(db, unit_row, person)
            return reservation

    def store_answer(
        self, reservation: Reservation, values: Values, *, skipped: bool = False
    ) -> str:
        """Store an answer; idempotent.

        An answer sent during a reservation is stored even if the unit was withdrawn or the task
        closed.

        Returns:
            Reason why it was refused; "" if it was stored.
        """
        with self.store.writing() as db:
            current = self._find_reservation(db, reservation.unit.number, reservation.person)
            if current is None:
                return "This unit is not assigned to you."
            if current.refusal and not current.is_active:
                return current.refusal
            if current.answer != values or current.skipped != skipped:
                _insert_answer(db, current, self._now(), values, skipped=skipped)
            return ""

    def last_answers(self, task: PersonTask, person: str) -> list[LastAnswer]:
        """A person's last answers to the present units, newest first."""
        with self.store.reading() as db:
            rows = db.execute(_SELECT_LAST_ANSWERS, (person, task.number)).fetchall()
        return [
            LastAnswer(
                unit=parse_unit(*unit_columns),
                values=parse_values(values),
                skipped=bool(skipped),
                at=changed_at,
            )
            for *unit_columns, values, skipped, changed_at in rows
        ]

    def record_upload(self, person: str, image: str) -> None:
        """Record a person's upload, which only they may see and use in answers."""
        with self.store.writing() as db:
            db.execute("INSERT OR IGNORE INTO uploads VALUES (?, ?)", (person, image))

    def has_uploaded(self, person: str, image: str) -> bool:
        """Whether a person uploaded an image."""
        query = "SELECT 1 FROM uploads WHERE person = ? AND image = ?"
        with self.store.reading() as db:
            return db.execute(query, (person, image)).fetchone() is not None

    def _person_task(
        self,
        db: sqlite3.Connection,
        number: int,
        task: AnnotationTask,
        person: str,
        *,
        is_closed: bool,
    ) -> PersonTask:
        """Count what a person has answered of a task, and may still get."""
        parameters = {"task": number, "person": person}
        ((n_open,),) = db.execute(_COUNT_OPEN, parameters)
        ((n_barred,),) = db.execute(_COUNT_BARRED, parameters)
        ((n_done, n_answered, n_done_open),) = db.execute(_COUNT_DONE, parameters)
        left = max(0, n_open - n_barred - n_done_open)
        most_answers = self._terms(task).most_answers
        end_reason = self._end_reason(task, is_closed=is_closed)
        if not end_reason and most_answers is not None and n_answered >= most_answers:
            end_reason = f"You gave the most answers that one person may give: {n_answered}."
        return PersonTask(
            number=number, task=task, answered=n_done, left=left, end_reason=end_reason
        )

    def _terms(self, task: AnnotationTask) -> AnnotationTerms:
        return self.terms().get(task.name, AnnotationTerms())

    def _end_reason(self, task: AnnotationTask, *, is_closed: bool) -> str:
        """Reason why nobody may answer a task any more; "" while they may."""
        until = self._terms(task).until
        if until and format_timestamp(self.clock()) > until:
            return f"This task ended on {until[:16].replace('T', ', ')} UTC."
        return "This task is closed." if is_closed else ""

    def _find_reservation(
        self, db: sqlite3.Connection, unit_row: int, person: str
    ) -> Reservation | None:
        """Find a reservation; the end of the task is another reason to refuse an answer."""
        reservation = _select_reservation(db, unit_row, person, self._now())
        if reservation is None:
            return None
        end_reason = self._end_reason(reservation.task, is_closed=reservation.is_closed)
        return replace(reservation, refusal=end_reason) if end_reason else reservation

    def _reserve(self, db: sqlite3.Connection, unit_row: int, person: str) -> None:
        now = self._now()
        db.execute(
            _UPSERT_RESERVATION,
            {"unit": unit_row, "person": person, "now": now, "until": now + self.lease},
        )

    def _now(self) -> float:
        return self.clock().timestamp()
