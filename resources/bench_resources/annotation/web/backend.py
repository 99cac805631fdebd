"""Annotation backend over the pages' SQLite file."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench_assets.annotation.tasks import (
    AnnotationError,
    AnnotationTask,
    Answer,
    Unit,
    UnitCounts,
    Values,
    by_id,
    new_answers,
)
from bench_resources.annotation.web.store import (
    PagesStore,
    parse_values,
    serialize_task,
    serialize_unit,
    serialize_values,
)

TOOL = "pages"
_NO_END = 1_000_000_000  # annotators of an attention check: unlimited
_SHORT = 400  # characters; shorter answers are likely to repeat, and parsed once

_SELECT_TASK = "SELECT id FROM tasks WHERE name = ?"
_UPSERT_TASK = """
INSERT INTO tasks (name, version, told, closed) VALUES (?, ?, ?, 0) ON CONFLICT (name)
DO UPDATE SET version = excluded.version, told = excluded.told, closed = 0 RETURNING id
"""
_UPSERT_UNIT = """
INSERT INTO units (task, version, unit_id, digest, told, position, asked, needed, gold)
VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (task, unit_id, digest, version) DO UPDATE SET
told = excluded.told, position = excluded.position, asked = 1, needed = excluded.needed,
gold = excluded.gold
"""
_UPDATE_ROOM = f"""
UPDATE units SET room = CASE WHEN gold THEN {_NO_END} ELSE needed - (
    SELECT count(*) FROM places WHERE unit = units.id AND word IS NOT NULL AND NOT skipped
) END WHERE
"""
_SELECT_DIGESTS = f"SELECT unit_id, digest FROM units WHERE task = ({_SELECT_TASK}) AND asked"
_INSERT_BARRED = (
    "INSERT INTO barred SELECT id, ? FROM units WHERE task = ? AND unit_id = ? AND asked"
)
INSERT_ANSWER = """
INSERT INTO answers (unit, person, said, at, changed_at, seconds, skipped, proposed_by)
VALUES (?, ?, ?, ?, ?, ?, ?, '') RETURNING id
"""
_SELECT_UNIT = f"""
SELECT id FROM units WHERE task = ({_SELECT_TASK}) AND unit_id = ? AND digest = ? AND version = ?
"""
_UPSERT_LAST_ANSWER = """
INSERT INTO places (unit, person, shown, until, word, skipped) VALUES (?, ?, 0, 0, ?, ?)
ON CONFLICT (unit, person) DO UPDATE SET word = excluded.word, skipped = excluded.skipped, until = 0
WHERE word IS NULL OR ? >= (SELECT changed_at FROM answers WHERE id = word)
"""
_SELECT_ANSWERS = """
SELECT a.id, i.version, i.unit_id, i.digest, a.person, a.said, a.at, a.changed_at, a.seconds,
    a.skipped
FROM answers a JOIN units i ON a.unit = i.id WHERE i.task = (SELECT id FROM tasks WHERE name = ?)
ORDER BY i.unit_id, i.digest, a.person, a.id
"""


@dataclass(frozen=True, slots=True)
class PagesBackend:
    """The annotation backend over the SQLite file; works without the server."""

    store: PagesStore

    def ask(self, task: AnnotationTask, units: Sequence[Unit]) -> UnitCounts:
        """Publish units; the pages show them from then on."""
        wanted = {name: unit.digest for name, unit in by_id(task, units).items()}
        with self.store.writing() as db:
            before = dict(db.execute(_SELECT_DIGESTS, (task.name,)))
            _store_units(db, task, units)
        return UnitCounts.of(before, wanted)

    def answers(self, task: AnnotationTask) -> list[Answer]:
        """Read every answer in order; a person's last one counts."""
        if not self.store.exists:
            return []
        with self.store.reading() as db:
            return list(_read_answers(task.name, db.execute(_SELECT_ANSWERS, (task.name,))))

    def add(self, task: AnnotationTask, answers: Sequence[Answer]) -> int:
        """Store the new answers; their units are shown to fewer people."""
        with self.store.writing() as db:
            known = _read_answers(task.name, db.execute(_SELECT_ANSWERS, (task.name,)))
            new = new_answers(known, answers)
            for answer in new:
                _store_answer(db, task, answer)
        return len(new)

    def close(self, task: AnnotationTask) -> None:
        """Close the task; an answer in progress may still be sent."""
        with self.store.writing() as db:
            db.execute("UPDATE tasks SET closed = 1 WHERE name = ?", (task.name,))


def update_room(db: sqlite3.Connection, unit: int) -> None:
    """Update the number of people who may still answer a unit."""
    db.execute(f"{_UPDATE_ROOM} id = ?", (unit,))


def _store_units(db: sqlite3.Connection, task: AnnotationTask, units: Sequence[Unit]) -> None:
    ((number,),) = db.execute(_UPSERT_TASK, (task.name, task.version, serialize_task(task)))
    db.execute("UPDATE units SET asked = 0 WHERE task = ?", (number,))
    version = task.version
    db.executemany(
        _UPSERT_UNIT,
        (
            (number, version, unit.unit_id, unit.digest, serialize_unit(unit), position,
             unit.needed, bool(unit.gold))
            for position, unit in enumerate(units)
        ),
    )  # fmt: skip
    db.execute("DELETE FROM barred WHERE unit IN (SELECT id FROM units WHERE task = ?)", (number,))
    db.executemany(
        _INSERT_BARRED,
        ((person, number, unit.unit_id) for unit in units for person in dict.fromkeys(unit.barred)),
    )
    db.execute(f"{_UPDATE_ROOM} task = ? AND asked", (number,))


def _store_answer(db: sqlite3.Connection, task: AnnotationTask, answer: Answer) -> None:
    """Store an answer of another tool, beside those that are there.

    Raises:
        AnnotationError: If the pages never showed its unit.
    """
    version = (answer.unit_id, answer.unit_digest, answer.task_version)
    row = db.execute(_SELECT_UNIT, (task.name, *version)).fetchone()
    if row is None:
        raise AnnotationError(
            f"{task.name}: unit {answer.unit_id!r} was never published on the pages. Run"
            f" bench annotate ask {task.name}"
        )
    (unit,) = row
    ((number,),) = db.execute(
        INSERT_ANSWER,
        (unit, answer.person, serialize_values(answer.values), answer.at, answer.changed_at,
         answer.seconds, answer.skipped),
    )  # fmt: skip
    db.execute(
        _UPSERT_LAST_ANSWER, (unit, answer.person, number, answer.skipped, answer.changed_at)
    )
    update_room(db, unit)


def _read_answers(task: str, rows: sqlite3.Cursor) -> Iterator[Answer]:
    known: dict[str, Any] = {}  # shared texts: two hundred thousand answers have few distinct ones
    for (
        number,
        version,
        unit_id,
        digest,
        person,
        serialized,
        at,
        changed_at,
        seconds,
        skipped,
    ) in rows:
        values, complaint = _parse_values(known, serialized)
        yield Answer(
            task=task,
            task_version=known.setdefault(version, version),
            unit_id=known.setdefault(unit_id, unit_id),
            unit_digest=known.setdefault(digest, digest),
            person=known.setdefault(person, person),
            values=values,
            at=at,
            changed_at=at if at == changed_at else changed_at,
            seconds=seconds,
            skipped=bool(skipped),
            tool=TOOL,
            tool_id=f"{number:010}",  # sorts by time
            complaint=complaint,
        )


def _parse_values(known: dict[str, Any], serialized: str) -> tuple[Values, str]:
    key = f"said:{serialized}" if len(serialized) < _SHORT else ""
    if key not in known or not key:
        try:
            parsed = parse_values(serialized), ""
        except (AnnotationError, TypeError, AttributeError):
            parsed = {}, "the stored answer is damaged"
        if not key:
            return parsed
        known[key] = parsed
    read: tuple[Values, str] = known[key]
    return read
