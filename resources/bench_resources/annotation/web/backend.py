"""Annotation backend over the pages' SQLite file."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench_assets.annotation.tasks import (
    AnnotationError,
    AnnotationTask,
    Answer,
    Unit,
    UnitCounts,
    Values,
    index_units,
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
_SHORT = 400  # characters; shorter answers are likely to repeat, and are parsed once

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
        """Publish units, which the pages show from then on; counts new and changed ones."""
        new_digests = {unit_id: unit.digest for unit_id, unit in index_units(task, units).items()}
        with self.store.writing() as db:
            old_digests = dict(db.execute(_SELECT_DIGESTS, (task.name,)))
            _store_units(db, task, units)
        return UnitCounts.of(old_digests, new_digests)

    def answers(self, task: AnnotationTask) -> list[Answer]:
        """Read every answer in order; a person's last one counts."""
        if not self.store.exists:
            return []
        with self.store.reading() as db:
            return list(_read_answers(task.name, db.execute(_SELECT_ANSWERS, (task.name,))))

    def add(self, task: AnnotationTask, answers: Sequence[Answer]) -> int:
        """Store the new answers, and return how many; their units are shown to fewer people."""
        with self.store.writing() as db:
            stored = _read_answers(task.name, db.execute(_SELECT_ANSWERS, (task.name,)))
            new = new_answers(stored, answers)
            for answer in new:
                _store_answer(db, task, answer)
        return len(new)

    def close(self, task: AnnotationTask) -> None:
        """Close the task; an answer in progress may still be sent."""
        with self.store.writing() as db:
            db.execute("UPDATE tasks SET closed = 1 WHERE name = ?", (task.name,))


def update_room(db: sqlite3.Connection, unit_row: int) -> None:
    """Update the number of people who may still answer a unit, given by its row id."""
    db.execute(f"{_UPDATE_ROOM} id = ?", (unit_row,))


def _store_units(db: sqlite3.Connection, task: AnnotationTask, units: Sequence[Unit]) -> None:
    """Store a task and its units; earlier units that are not among them are withdrawn."""
    ((task_row,),) = db.execute(_UPSERT_TASK, (task.name, task.version, serialize_task(task)))
    db.execute("UPDATE units SET asked = 0 WHERE task = ?", (task_row,))
    version = task.version
    db.executemany(
        _UPSERT_UNIT,
        (
            (task_row, version, unit.unit_id, unit.digest, serialize_unit(unit), position,
             unit.needed, bool(unit.gold))
            for position, unit in enumerate(units)
        ),
    )  # fmt: skip
    db.execute(
        "DELETE FROM barred WHERE unit IN (SELECT id FROM units WHERE task = ?)", (task_row,)
    )
    db.executemany(
        _INSERT_BARRED,
        (
            (person, task_row, unit.unit_id)
            for unit in units
            for person in dict.fromkeys(unit.barred)
        ),
    )
    db.execute(f"{_UPDATE_ROOM} task = ? AND asked", (task_row,))


def _store_answer(db: sqlite3.Connection, task: AnnotationTask, answer: Answer) -> None:
    """Store an answer of another tool, in addition to the present ones."""
    version = (answer.unit_id, answer.unit_digest, answer.task_version)
    row = db.execute(_SELECT_UNIT, (task.name, *version)).fetchone()
    if row is None:
        raise AnnotationError(
            f"{task.name}: unit {answer.unit_id!r} was never published on the pages in the version"
            f" that was answered. Run bench annotate ask {task.name}"
        )
    (unit_row,) = row
    ((answer_row,),) = db.execute(
        INSERT_ANSWER,
        (unit_row, answer.person, serialize_values(answer.values), answer.at, answer.changed_at,
         answer.seconds, answer.skipped),
    )  # fmt: skip
    db.execute(
        _UPSERT_LAST_ANSWER,
        (unit_row, answer.person, answer_row, answer.skipped, answer.changed_at),
    )
    update_room(db, unit_row)


def _read_answers(task: str, rows: sqlite3.Cursor) -> Iterator[Answer]:
    """Parse the rows of ``_SELECT_ANSWERS``.

    Equal texts and values are shared: two hundred thousand answers have few distinct ones.
    """
    texts: dict[str, str] = {}
    parsed: dict[str, tuple[Values, str]] = {}
    for row in rows:
        row_id, version, unit_id, digest, person, serialized, at, changed_at, seconds, skipped = row
        values, complaint = parsed.get(serialized) or _parse_values(serialized)
        if len(serialized) < _SHORT:
            parsed[serialized] = values, complaint
        yield Answer(
            task=task,
            task_version=texts.setdefault(version, version),
            unit_id=texts.setdefault(unit_id, unit_id),
            unit_digest=texts.setdefault(digest, digest),
            person=texts.setdefault(person, person),
            values=values,
            at=at,
            changed_at=at if at == changed_at else changed_at,  # equal ones are shared
            seconds=seconds,
            skipped=bool(skipped),
            tool=TOOL,
            tool_id=f"{row_id:010}",  # sorts by time
            complaint=complaint,
        )


def _parse_values(serialized: str) -> tuple[Values, str]:
    """Values of an answer, and a complaint if they are damaged, else ""."""
    try:
        return parse_values(serialized), ""
    except (AnnotationError, TypeError, AttributeError):
        return {}, "the stored answer is damaged"
