"""The gate between what runs a model and what remembers its responses."""

from collections.abc import Iterable, Iterator

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.response_validation import certain

GATE = (
    "1"  # kept beside each response; raise it when a gate before the store lets less in than before
)


def let_in(arrivals: Iterable[tuple[int, Response]], n: int) -> Iterator[tuple[int, Response]]:
    """Let through one response to each of ``n`` requests, as they arrive; see ``core.certain``.

    What is no response, and what never came, comes out with ``error``.

    Raises:
        ModelError: If a response belongs to no request, or one request has two: then nobody knows
            whose any of them are.
    """
    waiting = set(range(n))
    for position, said in arrivals:
        if position not in waiting:
            again = "a second response" if position in range(n) else "a response"
            raise ModelError(f"{again} to request {position!r} of {n}, counted from 0")
        waiting.discard(position)
        yield position, certain(said)
    for position in sorted(waiting):
        yield position, Response(error="asked, and no response came")
