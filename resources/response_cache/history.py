"""Cached responses of a model: counts and mean lengths."""

import sqlite3
from dataclasses import dataclass

from bench_assets.core.schema.response_validation import MOST_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens that a model read and wrote, or is expected to."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """How a model's responses were on average; None without any."""

    seconds: float | None = None
    tokens: float | None = None


def tokens_of(db: sqlite3.Connection, identity: str) -> Tokens:
    """Add up the tokens of every response that is remembered of a model."""
    prompt, completion = db.execute(
        f"SELECT total({_known('prompt_tokens')}), total({_known('completion_tokens')})"
        " FROM responses WHERE model = ?",
        (identity,),
    ).fetchone()
    return Tokens(prompt=int(prompt), completion=int(completion))


def earlier(db: sqlite3.Connection, identity: str, decoding: str) -> Earlier:
    """Say how the responses were that a model gave when it was asked in this way."""
    seconds, tokens = db.execute(
        f"SELECT avg(seconds), avg({_known('completion_tokens')}) FROM responses"
        " WHERE model = ? AND decoding = ?",
        (identity, decoding),
    ).fetchone()
    return Earlier(seconds=seconds, tokens=tokens)


def _known(tokens: str) -> str:
    """A column of tokens in SQL, without what an older gate took for a number of them."""
    is_count = f"typeof({tokens}) = 'integer' AND {tokens} BETWEEN 0 AND {MOST_TOKENS}"
    return f"CASE WHEN {is_count} THEN {tokens} END"
