"""Protocol of a provider's batch API, and conversations in batches.

One request on its way through batches: a batch for each turn that it has answered.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Protocol

from bench_assets.core.parsing.reasoning import without_reasoning
from bench_assets.core.schema.chat import Request, Response, Turn
from bench_assets.core.schema.errors import ModelError
from resources.config.sections.servers import ServerSpec
from resources.models.api.formats.base import ApiFormat
from resources.models.api.formats.response_body import parsed, read
from resources.models.batches.http import Wire
from resources.response_cache.port import TokenCounts


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


_IMAGE = 2_000  # tokens; more than an image has with most models
_LETTERS = 2  # a token has about four of Latin text, one of Chinese


@dataclass(slots=True)
class Conversation:
    """A request, and how far it was answered."""

    position: int
    request: Request
    responses: list[Response] = field(default_factory=list)
    custom_id: str = ""
    """Of what it asks at the moment; the same whenever the same is asked."""

    def body(self, form: ApiFormat, spec: ServerSpec) -> bytes:
        """Write what it asks now, with all that was said before.

        Raises:
            ImageError: If an image cannot be read.
            orjson.JSONEncodeError: If a text is not valid Unicode.
        """
        messages: list[dict[str, Any]] = []
        for n, asked in enumerate(self.request.prompt.rounds()):
            messages += map(form.message, asked)
            if n == len(self.responses):
                break
            text = without_reasoning(self.responses[n].text, spec.thinking_tags)
            messages.append(form.message(Turn("assistant", (text,))))
        body = form.body(self.request, messages)
        self.custom_id = f"{sha256(body).hexdigest()[:48]}-{self.request.sample}"
        return body

    def most(self, spec: ServerSpec) -> TokenCounts:
        """As many tokens as it probably never takes, for a budget."""
        turns = self.request.prompt.turns
        letters = sum(len(part) for t in turns for part in t.parts if isinstance(part, str))
        letters += sum(len(response.text) for response in self.responses)
        images = len(self.request.prompt.images)
        return TokenCounts(
            prompt=100 + letters // _LETTERS + images * _IMAGE, completion=spec.max_tokens
        )

    def take(self, response: Response) -> Response | None:
        """Take a response; the last one, or an error, is what comes of all of it."""
        if response.error:
            return response
        self.responses.append(response)
        if len(self.responses) < len(self.request.prompt.rounds()):
            return None
        together = Response.together(self.responses)
        return together if len(self.responses) > 1 else response


_SHOWN = 300  # characters of a server's message


def object_of(line: bytes) -> dict[str, Any]:
    """Parse a line of results.

    Raises:
        ModelError: If it is no JSON object: then nobody knows whose result it is.
    """
    try:
        said = parsed(line)
    except ValueError as why:
        raise ModelError(f"the results of a batch have a line that is not JSON ({why})") from why
    if not isinstance(said, dict):
        raise ModelError("the results of a batch have a line that is no JSON object")
    return said


def responded(form: ApiFormat, body: bytes) -> Response:
    """Read a response as if it had come by itself; how long it took nobody says."""
    outcome = read(form, body, 0.0, {})
    if isinstance(outcome, Response):
        return replace(outcome, seconds=None)
    return Response(error=f"in a batch: {outcome}")


def unasked(kind: object, message: object) -> Response:
    """What became of a request without a response.

    >>> unasked("batch_expired", "too late").error, unasked("canceled", "").error
    ('in a batch: batch_expired: too late', 'in a batch: canceled')
    """
    said = ": ".join(str(part)[:_SHOWN] for part in (kind, message) if part)
    return Response(error=f"in a batch: {said or 'no word of it'}")
