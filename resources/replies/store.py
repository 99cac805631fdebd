"""Remembers every reply; asks only what was never asked.

One SQLite file (WAL: many processes may read and write), one row a reply, written the moment it
arrives: a killed run loses only what was in flight. A reply is identified by who was asked how
(model identity, decoding), the prompt's digest and the number of the draw.
"""

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

from bench_assets.core.certain import readable
from bench_assets.core.chat import Decoding, Reply, Request
from bench_assets.core.errors import ModelError
from bench_assets.core.reasoning import Tags
from resources.disk.sqlite_files import connect, opened_to_read, told
from resources.replies.engine import Engine, LooksFurther
from resources.replies.gate import GATE, let_in
from resources.replies.reply_file import (
    IF_DAMAGED,
    digest_of,
    is_damaged,
    is_prompt,
    make_ready,
    rows_in,
)
from resources.replies.stored import stored_reply
from resources.replies.throughput import Throughput

_LOG = logging.getLogger("bench_assets.replies")

Progress: TypeAlias = Callable[[int, int, int], None]  # done, of those remembered, total

_KEEP_PROMPT = (
    "INSERT INTO prompts VALUES (?, ?) ON CONFLICT DO UPDATE SET turns = excluded.turns"
    " WHERE turns IS NOT excluded.turns"  # it was damaged
)
_CHUNK = 500  # keys looked up at once; SQLite allows 999 parameters in old builds


class ReplyStore:
    """The file that remembers."""

    def __init__(self, file: Path) -> None:
        """Find the file, or make an empty one.

        Raises:
            HomeError: If it is damaged, something else, or of a newer version.
        """
        self.file = file
        make_ready(file)

    def connect(self) -> sqlite3.Connection:
        """Open the file; waits up to a minute for another process that writes."""
        db = connect(self.file)
        db.execute("PRAGMA synchronous=NORMAL")  # survives kill -9; only a power cut may lose
        return db

    def find(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Look up replies by key; what was never asked, or is no reply any more, is left out.

        Raises:
            HomeError: If the file as a whole is damaged.
        """
        with told(self.file, IF_DAMAGED), opened_to_read(self.file) as db:
            found = {row["key"]: _reply(row) for row in _rows(db, keys)}
        return {key: reply for key, reply in found.items() if not reply.error}

    def drop_damaged(self, keys: Sequence[str]) -> None:
        """Drop those of the replies that are none any more, so that others may come."""
        with closing(self.connect()) as db, db:
            damaged = [(row["key"],) for row in _rows(db, keys) if _reply(row).error]
            db.executemany("DELETE FROM replies WHERE key = ?", damaged)
        if damaged:
            _LOG.warning("%s: %d damaged replies are asked again", self.file, len(damaged))

    def prompt(self, sha256: str) -> str | None:
        """The turns of a prompt that was once asked, as JSON; None also if they are damaged."""
        with told(self.file, IF_DAMAGED), opened_to_read(self.file) as db:
            row = db.execute("SELECT turns FROM prompts WHERE sha256 = ?", (sha256,)).fetchone()
        return str(row[0]) if row and is_prompt(sha256, row[0]) else None


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
        with told(self._store.file, IF_DAMAGED), closing(self._store.connect()) as db:
            self._store.drop_damaged(keys)
            for position, reply in let_in(self._engine.stream(requests), len(requests)):
                replies[keys[position]] = reply
                self._throughput.see(reply)
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
        sha256 = request.prompt.sha256
        row = {
            "key": key,
            "model": self._engine.identity,
            "decoding": self._decoding(request),
            "prompt": sha256,
            "sample": request.sample,
            "text": reply.text,
            "finish_reason": reply.finish_reason,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "image_tokens": " ".join(map(str, reply.image_tokens)),
            "seconds": reply.seconds,
            "note": reply.note,
            "gate": GATE,
        }
        row["digest"] = digest_of(row)
        marks = ",".join("?" * len(row))
        with db:
            db.execute(_KEEP_PROMPT, (sha256, readable(request.prompt.to_json())))
            db.execute(
                f"INSERT OR IGNORE INTO replies ({', '.join(row)}) VALUES ({marks})",
                tuple(row.values()),
            )

    def _decoding(self, request: Request) -> str:
        drawn, temperature = self._engine.decoding, request.temperature
        if temperature is None:
            return _written(drawn)
        return str(replace(drawn, temperature=temperature)) if drawn else f"t={temperature:g}"

    def _key(self, request: Request) -> str:
        engine = self._engine
        more = engine.particulars(request) if isinstance(engine, LooksFurther) else ""
        return key_of(engine.identity, self._decoding(request), request, more)


def key_of(identity: str, decoding: str, request: Request, more: str = "") -> str:
    """Name a reply by who was asked what how; ``more`` is what an engine looks further at."""
    parts = [identity, decoding, request.prompt.sha256, str(request.sample)]
    return hashlib.sha256("\n".join([*parts, *([more] if more else [])]).encode()).hexdigest()


def _written(decoding: Decoding | None) -> str:
    return str(decoding) if decoding else ""


def _rows(db: sqlite3.Connection, keys: Sequence[str]) -> Iterator[dict[str, Any]]:
    for start in range(0, len(keys), _CHUNK):
        chunk = keys[start : start + _CHUNK]
        marks = ",".join("?" * len(chunk))
        yield from rows_in(db.execute(f"SELECT * FROM replies WHERE key IN ({marks})", chunk))


def _reply(row: Mapping[str, Any]) -> Reply:
    return Reply(error="damaged") if is_damaged(row) else stored_reply(row)
