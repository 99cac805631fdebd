"""What the engine for batches asks of a provider's API."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from bench_assets.core.schema.chat import Response
from resources.models.api.formats.base import ApiFormat
from resources.models.batches.http import Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How far a batch has come."""

    ended: bool = False
    says: str = ""  # the server's word for it
    failed: str = ""  # why nothing of it was asked
    too_much: bool = False  # so it failed for its size: half of it may do


class BatchApi(Protocol):
    """Hands batches to one server, and reads what came of them."""

    most: int
    """Requests in one batch."""
    most_bytes: int
    """Bytes of one batch."""

    def line(self, custom_id: str, body: bytes) -> bytes:
        """Write one request of a batch; ``custom_id`` has 64 letters, digits, ``-`` at most."""
        ...

    async def submit(self, wire: Wire, lines: Sequence[bytes], tag: str) -> str:
        """Hand over a batch; its id there.

        Raises:
            TooLargeError: If it is too large.
            UncertainError: If nobody knows whether it arrived.
            ModelError: If it is refused.
        """
        ...

    async def find(self, wire: Wire, tag: str, n: int, since: float) -> str:
        """Look for a batch of ``n`` requests handed over since a moment (s); "" if there is none.

        Raises:
            ModelError: If the server cannot be asked.
        """
        ...

    async def look(self, wire: Wire, batch: str) -> State:
        """Say how far a batch has come.

        Raises:
            GoneError: If the server knows of none of that id.
            ModelError: If the server cannot be asked.
        """
        ...

    def results(
        self, wire: Wire, batch: str, form: ApiFormat
    ) -> AsyncIterator[tuple[str, Response]]:
        """Read what came of a batch that ended, by custom_id; what failed has ``error``.

        Raises:
            ModelError: If it cannot be read.
        """
        ...
