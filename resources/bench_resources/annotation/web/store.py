"""SQLite store of the annotation pages.

Publishing units and reading answers need no server, but may run while one does (WAL: one writer at
a time). Answers are append-only: triggers refuse to change or delete one. Tasks, units and values
are stored as JSON.
"""

import json
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench_assets.annotation.tasks import AnnotationError, AnnotationTask, Field, Unit, Values
from bench_assets.core.schema.errors import HomeError
from bench_resources.storage.sqlite import connect, create, describe_sqlite_errors, open_read_only

NAME = "pages.sqlite"
"""Name of the file, in ``annotation/`` of the home folder."""

SCHEMA_VERSION = 1
"""Version of the schema, in ``PRAGMA user_version``."""

_REPAIR_ADVICE = "restore a backup, or save the intact rows with `sqlite3 FILE .recover`"
_SCHEMA = f"""
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, version TEXT NOT NULL,
    told TEXT NOT NULL,                -- the task as JSON
    closed INTEGER NOT NULL
);
CREATE TABLE units (                   -- each as it was once shown: another text is another row
    id INTEGER PRIMARY KEY, task INTEGER NOT NULL, version TEXT NOT NULL, unit_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    told TEXT NOT NULL,                -- what is shown, as JSON
    position INTEGER NOT NULL,         -- in the order in which the suite asks
    asked INTEGER NOT NULL,            -- now
    needed INTEGER NOT NULL,
    gold INTEGER NOT NULL,             -- an attention check: everybody is shown it
    room INTEGER NOT NULL DEFAULT 0,   -- people who may still answer
    UNIQUE (task, unit_id, digest, version)
);
CREATE INDEX open_items ON units (task, position) WHERE asked AND room > 0;
CREATE TABLE barred (unit INTEGER, person TEXT, PRIMARY KEY (unit, person)) WITHOUT ROWID;
CREATE INDEX barred_from ON barred (person, unit);
CREATE TABLE places (                  -- who was shown what
    unit INTEGER, person TEXT,
    shown REAL NOT NULL, until REAL NOT NULL,  -- s since 1970; kept for this person until then
    word INTEGER,                      -- this person's last word, once there is one
    skipped INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (unit, person)
) WITHOUT ROWID;
CREATE INDEX places_of ON places (person, unit);
CREATE INDEX places_held ON places (person, unit) WHERE word IS NULL;
CREATE TABLE answers (
    id INTEGER PRIMARY KEY, unit INTEGER NOT NULL, person TEXT NOT NULL, said TEXT NOT NULL,
    at TEXT NOT NULL, changed_at TEXT NOT NULL, seconds REAL, skipped INTEGER NOT NULL,
    proposed_by TEXT NOT NULL          -- empty; older versions filled units in
);
CREATE INDEX answers_to ON answers (unit);
CREATE TRIGGER no_answer_changes BEFORE UPDATE ON answers
    BEGIN SELECT RAISE(ABORT, 'answers are only added to'); END;
CREATE TRIGGER no_answer_goes BEFORE DELETE ON answers
    BEGIN SELECT RAISE(ABORT, 'answers are only added to'); END;
CREATE TABLE marks (                   -- how far a person is: what they are shown next lies behind
    task INTEGER, person TEXT, position INTEGER NOT NULL, PRIMARY KEY (task, person)
) WITHOUT ROWID;
CREATE TABLE links (person TEXT PRIMARY KEY, voided INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE uploads (person TEXT, image TEXT, PRIMARY KEY (person, image)) WITHOUT ROWID;
PRAGMA user_version = {SCHEMA_VERSION};
"""


@dataclass(frozen=True, slots=True)
class PagesStore:
    """The file, created by the first write."""

    file: Path

    @property
    def exists(self) -> bool:
        """Whether any task was ever published."""
        return self.file.exists()

    def tasks(self) -> list[str]:
        """Names of all tasks ever published; raises as ``reading``."""
        if not self.exists:
            return []
        with self.reading() as db:
            return [str(name) for (name,) in db.execute("SELECT name FROM tasks ORDER BY name")]

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """Open the file for reading.

        Raises:
            AnnotationError: If it is missing, damaged, or has another schema version.
        """
        with _as_annotation_error():
            if not self.exists:
                raise AnnotationError(f"{self.file}: no units were published on pages")
            with describe_sqlite_errors(self.file, _REPAIR_ADVICE), open_read_only(self.file) as db:
                _require_version(db, self.file)
                yield db

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """Open the file for writing, in one transaction.

        Raises:
            AnnotationError: If it is damaged, has another schema version, or cannot be written.
        """
        with _as_annotation_error(), describe_sqlite_errors(self.file, _REPAIR_ADVICE):
            if not self.exists:
                create(self.file, _SCHEMA)
            with closing(connect(self.file)) as db:
                db.isolation_level = None  # transactions begin explicitly
                db.execute("PRAGMA synchronous=NORMAL")  # only a power cut may lose an answer
                _require_version(db, self.file)
                db.execute("BEGIN IMMEDIATE")
                with db:
                    yield db


def pages_store(home: Path) -> PagesStore:
    """The store of a home."""
    return PagesStore(home / "annotation" / NAME)


def _require_version(db: sqlite3.Connection, file: Path) -> None:
    ((version,),) = db.execute("PRAGMA user_version")
    if version != SCHEMA_VERSION:
        raise AnnotationError(
            f"{file}: its tables have version {version}, expected {SCHEMA_VERSION}; update this"
            " program, or move the file away"
        )


@contextmanager
def _as_annotation_error() -> Generator[None]:
    try:
        yield
    except HomeError as error:
        raise AnnotationError(str(error)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownUnit:
    """A unit for annotators, without other answers and the key."""

    number: int  # row id
    task: int  # row id
    unit_id: str
    shown: Mapping[str, str]
    images: Mapping[str, str]
    choices: Values


def serialize_task(task: AnnotationTask) -> str:
    """Serialize an annotation task."""
    return json.dumps(asdict(task))


def parse_task(text: str) -> AnnotationTask:
    """Parse an annotation task."""
    serialized = _parse_json(text)
    fields = tuple(
        Field(**{**field, "choices": tuple(field["choices"])}) for field in serialized["fields"]
    )
    return AnnotationTask(**{**serialized, "fields": fields})


def serialize_unit(unit: Unit) -> str:
    """Serialize a unit for annotators, without the key."""
    names = ("shown", "images", "choices")
    return json.dumps({name: getattr(unit, name) for name in names}, default=dict)


def parse_unit(number: int, task: int, unit_id: str, text: str) -> ShownUnit:
    """Parse a unit."""
    contents = _parse_json(text)
    return ShownUnit(
        number=number,
        task=task,
        unit_id=unit_id,
        shown=contents["shown"],
        images=contents["images"],
        choices=_to_values(contents["choices"]),
    )


def serialize_values(values: Values) -> str:
    """Serialize the values of a form."""
    return json.dumps(dict(values))


def parse_values(text: str) -> Values:
    """Parse values that ``serialize_values`` serialized.

    Raises:
        AnnotationError: If it is damaged.
    """
    return _to_values(_parse_json(text))


def _to_values(lists: dict[str, Any]) -> Values:
    return {name: tuple(texts) for name, texts in lists.items()}


def _parse_json(text: str) -> Any:  # noqa: ANN401
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AnnotationError(f"annotation/pages.sqlite: an entry is damaged: {error}") from error
