"""Engine port, and validation of an engine's responses before they are cached."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from bench_assets.core.schema.chat import Decoding, Request, Response, validate_response
from bench_assets.core.schema.errors import ModelError

ReadImage: TypeAlias = Callable[[str], bytes]  # SHA-256 -> the original bytes of the image


class Engine(Protocol):
    """Runs a model, without a cache."""

    @property
    def identity(self) -> str:
        """Identity of the model: all that responses depend on besides prompt and decoding.

        It is cheap to read: ``prepare`` of a ``PreparedEngine`` loads what it depends on.
        """
        ...

    @property
    def decoding(self) -> Decoding | None:
        """Default decoding parameters; None: the engine's own."""
        ...

    @property
    def peak_memory(self) -> int | None:
        """Peak bytes on one device during the last stream; None if unknown."""
        ...

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Send requests; yields position and response as they arrive, in any order.

        Every position occurs exactly once; a request without a response gets an ``error``.

        Raises:
            ModelError: If the model cannot be reached at all.
        """
        ...

    def close(self) -> None:
        """Release memory and connections."""
        ...


@runtime_checkable
class PreparedEngine(Protocol):
    """Engines that load something before they have an identity."""

    def prepare(self) -> None:
        """Load what the identity needs, once; called before the first request.

        Raises:
            ModelError: If the model cannot be loaded.
        """
        ...


VALIDATION_VERSION = "1"  # stored with each response; raise it when validation becomes stricter


def validate_arrivals(
    arrivals: Iterable[tuple[int, Response]], n: int
) -> Iterator[tuple[int, Response]]:
    """Validate responses to ``n`` requests as they arrive, see ``validate_response``.

    Invalid and missing responses get an ``error``.

    Raises:
        ModelError: If a response belongs to no request, or a request has two: positions are wrong.
    """
    waiting = set(range(n))
    for position, response in arrivals:
        if position not in waiting:
            kind = "a second response" if position in range(n) else "a response"
            raise ModelError(f"{kind} to request {position!r} of {n}, counted from 0")
        waiting.discard(position)
        yield position, validate_response(response)
    for position in sorted(waiting):
        yield position, Response(error="the engine returned no response")
