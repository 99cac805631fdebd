"""Rows of the PostgreSQL response cache."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from resources.response_cache.port import Row
from resources.storage.postgres import Connection

VERSION = 1

SCHEMA = """
CREATE TABLE bench_prompts (sha256 bytea PRIMARY KEY, turns text NOT NULL);
CREATE TABLE bench_responses (
    key bytea PRIMARY KEY, model text NOT NULL, decoding text NOT NULL, prompt bytea NOT NULL,
    sample bigint NOT NULL, said json NOT NULL, prompt_tokens bigint, completion_tokens bigint,
    seconds double precision, gate text, digest bytea NOT NULL,
    asked_at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE INDEX bench_responses_asked_as ON bench_responses (model, decoding);
CREATE TABLE bench_askings (key bytea PRIMARY KEY, owner text NOT NULL, until timestamptz NOT NULL);
"""
"""``said``: text, finish_reason, note and image_tokens. JSON.

Since a response may hold what a text of
PostgreSQL cannot: the character of number 0."""

_SAID = ("text", "finish_reason", "note", "image_tokens")
_TYPES = {
    "key": "bytea",
    "model": "text",
    "decoding": "text",
    "prompt": "bytea",
    "sample": "bigint",
    "said": "json",
    "prompt_tokens": "bigint",
    "completion_tokens": "bigint",
    "seconds": "double precision",
    "gate": "text",
    "digest": "bytea",
    "asked_at": "timestamptz",
}
_DIGESTS = ("key", "prompt", "digest")
_KEEP_PROMPTS = (
    "INSERT INTO bench_prompts AS kept SELECT * FROM unnest(%b::bytea[], %b::text[])"
    " ON CONFLICT (sha256) DO UPDATE SET turns = excluded.turns"
    " WHERE kept.turns IS DISTINCT FROM excluded.turns"  # it was damaged
)
_READ = ", ".join(
    f"coalesce({name}, clock_timestamp())"
    if name == "asked_at"
    else f"{name}::json"
    if kind == "json"
    else name
    for name, kind in _TYPES.items()
)
_GIVEN = ", ".join(f"%b::{'text' if kind == 'json' else kind}[]" for kind in _TYPES.values())
_KEEP_RESPONSES = (
    f"INSERT INTO bench_responses AS kept ({', '.join(_TYPES)})"
    f" SELECT {_READ} FROM unnest({_GIVEN}) AS given ({', '.join(_TYPES)}) ON CONFLICT (key) DO "
)
_OLDER = (
    f"UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _TYPES if name != 'key')}"
    " WHERE excluded.asked_at < kept.asked_at"
)


def insert(
    db: Connection,
    rows: Iterable[Row],
    prompts: Mapping[str, str] | None = None,
    *,
    older: bool = False,
) -> None:
    """Store responses and prompts in two statements; what is stored already stays.

    In the order of their keys: two that store the same would else wait for each other.

    Args:
        db: The database.
        rows: The responses; ``asked_at`` is now where a row has none.
        prompts: Digest -> turns.
        older: Whether of two responses to one request the older one stays, not the stored one.
    """
    if prompts:
        digests = sorted(prompts)
        turns = [prompts[one] for one in digests]
        db.execute(_KEEP_PROMPTS, ([bytes.fromhex(one) for one in digests], turns))
    each = {row["key"]: _written(row) for row in rows}
    if each:
        columns = zip(*(each[key] for key in sorted(each)), strict=True)
        how = _OLDER if older else "NOTHING"
        db.execute(f"{_KEEP_RESPONSES}{how}", [list(column) for column in columns])


def row_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """A row as ours are: digests as text, what was said beside the rest."""
    row = {name: value for name, value in stored.items() if name != "said"}
    said = stored["said"]
    return {
        **row,
        **(said if isinstance(said, dict) else dict.fromkeys(_SAID)),
        **{name: bytes(stored[name]).hex() for name in _DIGESTS},
    }


def as_bytes(digests: Iterable[str]) -> list[bytes]:
    r"""Digests as the database has them; what is none can be nowhere in it.

    >>> as_bytes(["00ff", "of another store"])
    [b'\x00\xff']
    """
    found = []
    for one in digests:
        try:
            found.append(bytes.fromhex(one))
        except ValueError:
            continue
    return found


def _written(row: Row) -> tuple[Any, ...]:
    said = json.dumps({name: row[name] for name in _SAID})
    named = {**row, "said": said} | {name: bytes.fromhex(row[name]) for name in _DIGESTS}
    return tuple(named.get(name) for name in _TYPES)
