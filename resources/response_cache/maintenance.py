"""Merging of response caches.

Responses that an older gate let in, and that of today would not: to be found, and dropped.

Responses that are deleted for good, on somebody's word.

Responses that were stored under an identity that told a secret.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TypeVar

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import HomeError
from resources.response_cache.engine import VALIDATION_VERSION
from resources.response_cache.port import ResponseStore, Row
from resources.response_cache.sqlite_file import (
    is_damaged,
    is_prompt,
    iterate_rows,
    response_from_row,
    row_digest,
)

_MERGE_CHUNK = 1000  # rows
_DIGEST = frozenset("0123456789abcdef")

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """What became of the responses of a store."""

    source: str
    target: str
    responses: int  # whole ones, all of which are in the target now
    prompts: int
    left_out: int  # damaged ones and what is no response: the source keeps them


def merge_into(
    target: ResponseStore, source: ResponseStore, watch: Callable[[int], object] = lambda n: None
) -> MergeResult:
    """Take every whole response over, and look that it is there and whole.

    The source stays as it is.

    Of two responses to one request the older one stays. Ended half way, it may be begun again.

    Args:
        target: Where they are to be.
        source: Where they are.
        watch: Is told how many responses have been moved so far.

    Raises:
        HomeError: If one cannot be read or written, or was not there after it was written.
    """
    n_prompts = n_responses = n_left_out = 0
    for prompts in _chunks(one for one in source.prompts() if is_prompt(*one)):
        target.merge([], dict(prompts))
        n_prompts += len(prompts)
    for rows in _chunks(source.rows()):
        whole = [row for row in map(_valid_row, rows) if row]
        target.merge(whole, {})
        _require_all(target, whole)
        n_responses += len(whole)
        n_left_out += len(rows) - len(whole)
        watch(n_responses)
    return MergeResult(
        source=source.place,
        target=target.place,
        responses=n_responses,
        prompts=n_prompts,
        left_out=n_left_out,
    )


def _require_all(target: ResponseStore, rows: list[Row]) -> None:
    """Look that responses are in a store, as their digests say."""
    keys = [str(row["key"]) for row in rows]
    if missing := set(keys) - target.find(keys).keys():
        raise HomeError(
            f"{target.place}: {len(missing)} responses are not there that were just written, "
            f"such as"
            f" {min(missing)}; nothing was deleted: try again"
        )


def _valid_row(row: Mapping[str, Any]) -> Row | None:
    """A row as it is written today, with the moment it was asked; None if it is no response."""
    response = response_from_row(row)
    named = (str(row["key"]), str(row["prompt"]))
    if is_damaged(row) or response.error or not all(map(_is_digest, named)):
        return None
    columns = ("key", "model", "decoding", "prompt", "sample", "gate")
    whole = {
        **{name: row.get(name) for name in columns},
        "gate": row.get("gate") or "",
        "text": response.text,
        "finish_reason": response.finish_reason,
        "prompt_tokens": response.prompt_tokens,
        "completion_tokens": response.completion_tokens,
        "image_tokens": " ".join(map(str, response.image_tokens)),
        "seconds": response.seconds,
        "note": response.note,
    }
    return {**whole, "digest": row_digest(whole), "asked_at": _parse_asked_at(row["asked_at"])}


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= _DIGEST


def _parse_asked_at(asked_at: object) -> datetime:
    """When a response came; now, where that is not known, so that any other counts as older."""
    if isinstance(asked_at, datetime):
        return asked_at
    try:
        return datetime.fromisoformat(str(asked_at)).replace(tzinfo=UTC)
    except ValueError:
        return datetime.now(UTC)


def _chunks(found: Iterable[Item]) -> Iterator[list[Item]]:
    each = iter(found)
    while part := list(islice(each, _MERGE_CHUNK)):
        yield part


_ENDS = frozenset(
    {"", "stop", "length", "content_filter", "refusal", "repetition", "tool_calls"}
)  # what the formats of servers store
_BROKEN_OFF = frozenset({"abort", "error", "load"})  # whoever says so


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidResponse:
    """A row of the store that is not certainly a response."""

    key: str  # of the response in the store
    model: str  # identity
    prompt: str  # SHA-256; ``ResponseStore.prompt`` has its text
    why: str


def find_invalid_responses(store: ResponseStore) -> Iterator[InvalidResponse]:
    """Find what the gate of today would not have let in; nothing is changed.

    Looks only at what an older gate let in. What it stored of a message without a text cannot be
    told from one of a model that said nothing: either is found, and asked once more if it is
    dropped; what is then stored is not found again. Takes some 10 microseconds a response.

    The tables that were made of what is dropped stay as they are until their model is evaluated.
    """
    for row in store.rows(not_let_in_by=VALIDATION_VERSION):
        model = str(row["model"])
        if why := _why_invalid(model, response_from_row(row)):
            yield InvalidResponse(key=row["key"], model=model, prompt=str(row["prompt"]), why=why)


def _why_invalid(model: str, response: Response) -> str:
    """Why a stored response is in doubt; "" if it is not."""
    end, empty = response.finish_reason, not response.text.strip()
    if response.error:
        return response.error
    if end in _BROKEN_OFF:
        return f"it was broken off: finish_reason {end!r}"
    if not model.startswith("server:"):
        return ""
    if end not in _ENDS:
        return f"finish_reason {end[:40]!r} is none of a response"
    return (
        "it is empty, as responses without a text once were"
        if empty and end in ("", "stop")
        else ""
    )


_MODEL_AND_DECODING = "model || CASE WHEN decoding = '' THEN '' ELSE '|' || decoding END"


def remove_responses(db: sqlite3.Connection, asked_as: Collection[str]) -> int:
    """Delete what was responded by models that were asked so, and give the disk its room back.

    Args:
        db: The response store, to be written to.
        asked_as: Identity and decoding, as predictions have them.

    Returns:
        How many there were.
    """
    n = 0
    with db:
        for one in asked_as:
            before = one.partition("|thinking=")[0]  # which is read off a response, not asked for
            n += db.execute(
                f"DELETE FROM responses WHERE {_MODEL_AND_DECODING} = ?", (before,)
            ).rowcount
        db.execute("DELETE FROM prompts WHERE sha256 NOT IN (SELECT prompt FROM responses)")
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return n


def rename_model(db: sqlite3.Connection, before: str, now: str) -> int:
    """Keep a server's responses under another identity.

    Leave no byte of the old one in the file.

    Returns:
        How many there were.
    """
    db.execute("PRAGMA secure_delete=ON")  # else what is deleted stays in free pages
    with db:
        rows = list(iterate_rows(db.execute("SELECT * FROM responses WHERE model = ?", (before,))))
        for row in rows:
            _rename_row(db, row, with_identity(row, now))
    if rows:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return len(rows)


def with_identity(row: Mapping[str, Any], now: str) -> dict[str, Any]:
    """A row as it is under another identity; its digest is of the identity before."""
    parts = [now, row["decoding"], row["prompt"], str(row["sample"])]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return {**row, "key": key, "model": now}


def _rename_row(db: sqlite3.Connection, row: Mapping[str, Any], moved: Mapping[str, Any]) -> None:
    if not is_damaged(row):
        changed = db.execute(
            "UPDATE OR IGNORE responses SET key = ?, model = ?, digest = ? WHERE key = ?",
            (moved["key"], moved["model"], row_digest(moved), row["key"]),
        )
        if changed.rowcount:
            return
    # Damaged, or the same was asked under the new identity too.
    db.execute("DELETE FROM responses WHERE key = ?", (row["key"],))
