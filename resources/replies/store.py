"""Remembers every reply; asks only what was never asked.

One SQLite file (WAL: many processes may read and write), one row a reply, written the moment it
arrives: a killed run loses only what was in flight. A reply is identified by who was asked how
(model identity, decoding), the prompt's digest and the number of the draw.
"""

import hashlib
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

from bench_assets.core.chat import Decoding, Reply, Request
from bench_assets.core.errors import ModelError
from bench_assets.core.reasoning import Tags
from resources.replies.engine import Engine, LooksFurther
from resources.replies.throughput import Throughput

Progress: TypeAlias = Callable[[int, int, int], None]  # done, of those remembered, total

_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, model TEXT, decoding TEXT, prompt TEXT, sample INTEGER, text TEXT,
    finish_reason TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, seconds REAL,
    asked_at TEXT DEFAULT CURRENT_TIMESTAMP, image_tokens TEXT DEFAULT '', note TEXT DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS prompts (sha256 TEXT PRIMARY KEY, turns TEXT) WITHOUT ROWID;
"""
_COLUMNS = "text, finish_reason, prompt_tokens, completion_tokens, image_tokens, seconds, note"
_ADDED = ("image_tokens", "note")  # columns that files of 2026 may lack
_CHUNK = 500  # keys looked up at once; SQLite allows 999 parameters in old builds


class ReplyStore:
    """The file that remembers."""

    def __init__(self, file: Path) -> None:
        self.file = file
        if file.exists():
            _bring_up_to_date(file)
        else:
            _create(file)

    def connect(self) -> sqlite3.Connection:
        """Open the file; waits up to a minute for another process that writes."""
        db = sqlite3.connect(self.file, timeout=60)
        db.execute("PRAGMA synchronous=NORMAL")  # survives kill -9; only a power cut may lose
        return db

    def find(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Look up replies by key; what was never asked is left out."""
        found: dict[str, Reply] = {}
        with closing(self.connect()) as db:
            for start in range(0, len(keys), _CHUNK):
                chunk = keys[start : start + _CHUNK]
                marks = ",".join("?" * len(chunk))
                rows = db.execute(
                    f"SELECT key, {_COLUMNS} FROM replies WHERE key IN ({marks})", chunk
                )
                found.update({key: _reply(columns) for key, *columns in rows})
        return found

    def prompt(self, sha256: str) -> str | None:
        """The turns of a prompt that was once asked, as JSON."""
        with closing(self.connect()) as db:
            row = db.execute("SELECT turns FROM prompts WHERE sha256 = ?", (sha256,)).fetchone()
        return str(row[0]) if row else None


class RememberingModel:
    """A chat model that asks its engine only what the store does not know yet."""

    def __init__(
        self,
        name: str,
        engine: Engine,
        store: ReplyStore,
        progress: Progress = lambda done, remembered, total: None,
        throughput: Throughput | None = None,
        thinking_tags: Tags | None = None,
    ) -> None:
        """Put a name, a memory and the tags that the model thinks in to what runs it."""
        self._name = name
        self._engine = engine
        self._store = store
        self._progress = progress
        self._throughput = throughput or Throughput()
        self._thinking_tags = thinking_tags

    @property
    def name(self) -> str:
        """The name under which replies are shown."""
        return self._name

    @property
    def signature(self) -> str:
        """Identity of the engine, its decoding parameters, and its own tags of thoughts."""
        tags = f"|thinking={' '.join(self._thinking_tags)}" if self._thinking_tags else ""
        decoding = f"|{drawn}" if (drawn := self._engine.decoding) else ""
        return f"{self._engine.identity}{decoding}{tags}"

    @property
    def asked_as(self) -> tuple[str, str]:
        """Identity and decoding, as the store names them."""
        return self._engine.identity, _written(self._engine.decoding)

    def reply(self, requests: Sequence[Request]) -> list[Reply]:
        """Answer each request, in order, from the store where it can.

        Equal requests are asked once. A reply with ``error`` is not stored.

        Raises:
            ModelError: If the model cannot be asked at all, or nothing that was asked came back.
        """
        keys = [self._key(request) for request in requests]
        known = self._store.find(list(dict.fromkeys(keys)))
        unknown = {k: r for k, r in zip(keys, requests, strict=True) if k not in known}
        self._progress(len(known), len(known), len(known) + len(unknown))
        if unknown:
            known |= self._ask(unknown, len(known))
        return [replace(known[key], thinking_tags=self._thinking_tags) for key in keys]

    def _ask(self, unknown: dict[str, Request], n_known: int) -> dict[str, Reply]:
        keys, requests = list(unknown), list(unknown.values())
        replies: dict[str, Reply] = {}
        started = perf_counter()
        with closing(self._store.connect()) as db:
            for position, reply in self._engine.stream(requests):
                replies[keys[position]] = reply
                if not reply.error:
                    self._save(db, keys[position], requests[position], reply)
                self._progress(n_known + len(replies), n_known, n_known + len(unknown))
        seconds = perf_counter() - started
        self._throughput.count(replies.values(), seconds, self._engine.peak_memory)
        failed = [reply.error for reply in replies.values() if reply.error]
        if len(failed) == len(requests):
            raise ModelError(f"{self._name}: none of {len(requests)} requests: {failed[0]}")
        return replies

    def _save(self, db: sqlite3.Connection, key: str, request: Request, reply: Reply) -> None:
        prompt = request.prompt.to_json()
        sha256 = request.prompt.sha256
        with db:
            db.execute("INSERT OR IGNORE INTO prompts VALUES (?, ?)", (sha256, prompt))
            db.execute(
                "INSERT OR IGNORE INTO replies (key, model, decoding, prompt, sample,"
                f" {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    key,
                    self._engine.identity,
                    self._decoding(request),
                    sha256,
                    request.sample,
                    reply.text,
                    reply.finish_reason,
                    reply.prompt_tokens,
                    reply.completion_tokens,
                    " ".join(map(str, reply.image_tokens)),
                    reply.seconds,
                    reply.note,
                ),
            )

    def _decoding(self, request: Request) -> str:
        drawn, temperature = self._engine.decoding, request.temperature
        if temperature is None:
            return _written(drawn)
        return str(replace(drawn, temperature=temperature)) if drawn else f"t={temperature:g}"

    def _key(self, request: Request) -> str:
        parts = [
            self._engine.identity,
            self._decoding(request),
            request.prompt.sha256,
            str(request.sample),
        ]
        if isinstance(self._engine, LooksFurther) and (more := self._engine.particulars(request)):
            parts.append(more)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _written(decoding: Decoding | None) -> str:
    return str(decoding) if decoding else ""


def _create(file: Path) -> None:
    """Make an empty store; of many processes that do so at once, the first one's stays.

    It is made aside, because WAL cannot be switched on while another process looks at the file.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as aside:
        empty = Path(aside, file.name)
        with closing(sqlite3.connect(empty)) as db:
            db.execute("PRAGMA journal_mode=WAL")
            db.executescript(_SCHEMA)
        with suppress(FileExistsError):
            file.hardlink_to(empty)


def _bring_up_to_date(file: Path) -> None:
    """Add the columns that an older file lacks; another process may be doing the same."""
    with closing(sqlite3.connect(file, timeout=60)) as db:
        there = {row[1] for row in db.execute("PRAGMA table_info(replies)")}
        for column in _ADDED if there else ():
            if column not in there:
                try:
                    db.execute(f"ALTER TABLE replies ADD COLUMN {column} TEXT DEFAULT ''")
                except sqlite3.OperationalError as why:
                    if "duplicate column" not in str(why):  # the other one was faster
                        raise


def _reply(columns: Sequence[Any]) -> Reply:
    text, finish_reason, prompt_tokens, completion_tokens, image_tokens, seconds, note = columns
    return Reply(
        text=text,
        finish_reason=finish_reason,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        image_tokens=tuple(map(int, image_tokens.split())),
        seconds=seconds,
        note=note,
    )
