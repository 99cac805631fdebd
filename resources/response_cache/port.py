"""Port of the response cache: SQLite or PostgreSQL.

Cached responses of a model: counts and mean lengths.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from bench_assets.core.schema.chat import MOST_TOKENS, Response


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Tokens that a model read and wrote, or is expected to."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseAverages:
    """How a model's responses were on average; None without any."""

    seconds: float | None = None
    tokens: float | None = None


def tokens_of(db: sqlite3.Connection, identity: str) -> TokenCounts:
    """Add up the tokens of every response that is remembered of a model."""
    prompt, completion = db.execute(
        f"SELECT total({_valid_token_count('prompt_tokens')}),"
        f" total({_valid_token_count('completion_tokens')})"
        " FROM responses WHERE model = ?",
        (identity,),
    ).fetchone()
    return TokenCounts(prompt=int(prompt), completion=int(completion))


def response_averages(db: sqlite3.Connection, identity: str, decoding: str) -> ResponseAverages:
    """Say how the responses were that a model gave when it was asked in this way."""
    seconds, tokens = db.execute(
        f"SELECT avg(seconds), avg({_valid_token_count('completion_tokens')}) FROM responses"
        " WHERE model = ? AND decoding = ?",
        (identity, decoding),
    ).fetchone()
    return ResponseAverages(seconds=seconds, tokens=tokens)


def _valid_token_count(tokens: str) -> str:
    """A column of tokens in SQL, without what an older gate took for a number of them."""
    is_count = f"typeof({tokens}) = 'integer' AND {tokens} BETWEEN 0 AND {MOST_TOKENS}"
    return f"CASE WHEN {is_count} THEN {tokens} END"


Row: TypeAlias = Mapping[str, Any]
"""A response as it is kept: the columns of ``response_file``, digests as hexadecimal text."""


class RequestSession(Protocol):
    """What one process is asking, until the ``with`` block ends."""

    @property
    def ours(self) -> Sequence[str]:
        """Keys that this process is to ask, and nobody else does meanwhile."""
        ...

    @property
    def found(self) -> Mapping[str, Response]:
        """Responses by key that somebody else stored since they were looked up."""
        ...

    def keep(self, row: Row, turns: str) -> None:
        """Store a response, with the turns of its prompt as JSON.

        Raises:
            HomeError: If it cannot be stored, or one before it could not.
        """
        ...

    def give_up(self, key: str) -> None:
        """Let others ask what came back with an error."""
        ...


class ResponseStore(Protocol):
    """Remembers every response."""

    @property
    def place(self) -> str:
        """Where it is, for messages; tells no secret."""
        ...

    def find(self, keys: Sequence[str]) -> dict[str, Response]:
        """Look up responses by key.

        What was never asked, or is no response any more, is left out.
        """
        ...

    def prompt(self, sha256: str) -> str | None:
        """The turns of a prompt that was once asked, as JSON; None also if they are damaged."""
        ...

    def asking(self, keys: Sequence[str]) -> AbstractContextManager[RequestSession]:
        """Begin to ask; what of ``keys`` is neither ours nor found, somebody else is asking."""
        ...

    def tokens_of(self, identity: str) -> TokenCounts:
        """Add up the tokens of every response that is remembered of a model."""
        ...

    def earlier(self, identity: str, decoding: str) -> ResponseAverages:
        """Say how the responses were that a model gave when it was asked in this way."""
        ...

    def rename_model(self, before: str, now: str) -> int:
        """Keep a model's responses under another identity; how many there were."""
        ...

    def rows(self, not_let_in_by: str | None = None) -> Iterator[dict[str, Any]]:
        """Every response as it stands, damaged or not; or those that another gate let in."""
        ...

    def prompts(self) -> Iterator[tuple[str, str]]:
        """Digest and turns of every prompt as it stands."""
        ...

    def drop(self, keys: Iterable[str]) -> int:
        """Forget responses, so that they are asked again; how many there were."""
        ...

    def remove(self, asked_as: Collection[str]) -> int:
        """Forget what was responded by models that were asked so (identity and decoding)."""
        ...

    def n_since(self, moment: datetime) -> int:
        """Count the responses that came since then."""
        ...

    def merge(self, rows: Sequence[Row], prompts: Mapping[str, str]) -> None:
        """Take in whole rows of another store; of two responses to one request the older stays."""
        ...
