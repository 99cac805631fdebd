"""Values and ports of the response cache."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from bench_assets.core.schema.chat import Response


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Tokens that a model read and wrote, or is expected to."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseAverages:
    """Means over a model's cached responses; None without any."""

    seconds: float | None = None
    tokens: float | None = None


Row: TypeAlias = Mapping[str, Any]
"""A stored response, by the columns of ``resources.storage.schema.responses``."""


class RequestSession(Protocol):
    """Requests that one process sends during a ``with`` block."""

    @property
    def ours(self) -> Sequence[str]:
        """Keys of the requests that only this process sends."""
        ...

    @property
    def found(self) -> Mapping[str, Response]:
        """Responses by key that other processes stored since the look-up."""
        ...

    def keep(self, row: Row, turns: str) -> None:
        """Store a response, with the turns of its prompt as JSON.

        Raises:
            HomeError: If this response or one before it cannot be stored.
        """
        ...

    def give_up(self, key: str) -> None:
        """Let other processes send a request that failed."""
        ...
