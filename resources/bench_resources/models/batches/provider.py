"""Protocol of a provider's batch API, its results, and conversations in batches."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Protocol

from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.schema.chat import Request, Response, Turn
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.backoff import Failure
from bench_resources.http.errors import refusal_kind
from bench_resources.models.api.formats.base import ApiFormat
from bench_resources.models.api.formats.response_body import decode_response
from bench_resources.models.batches.http import BatchClient, json_object
from bench_resources.redaction.responses import note_redaction
from bench_resources.response_cache.rows import TokenCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    """Progress of a batch."""

    ended: bool = False
    says: str = ""  # the server's status
    failed: str = ""  # why none of its requests was processed
    too_much: bool = False  # it failed because of its size: half of it may succeed


class BatchApi(Protocol):
    """Submits batches to one server, and reads their results."""

    most: int
    """Maximum requests in one batch."""
    most_bytes: int
    """Maximum bytes of one batch."""

    def line(self, custom_id: str, body: bytes) -> bytes:
        """Encode one request; ``custom_id`` has at most 64 letters, digits and ``-``."""
        ...

    async def submit(self, wire: BatchClient, lines: Sequence[bytes], tag: str) -> str:
        """Submit a batch; returns its id.

        Raises:
            TooLargeError: If it is too large.
            UncertainError: If it is unknown whether it arrived.
            ModelError: If it is refused.
        """
        ...

    async def find(self, wire: BatchClient, tag: str, n: int, since: float) -> str:
        """Find a batch of ``n`` requests submitted after ``since`` (s); "" if there is none.

        Raises:
            ModelError: If the server cannot be reached, or refuses.
        """
        ...

    async def look(self, wire: BatchClient, batch: str) -> BatchState:
        """Get the state of a batch.

        Raises:
            GoneError: If the server knows no batch of that id.
            ModelError: If the server cannot be reached, or refuses.
        """
        ...

    def results(
        self, wire: BatchClient, batch: str, form: ApiFormat
    ) -> AsyncIterator[tuple[str, Response]]:
        """Read the results of an ended batch by custom_id; failed ones have ``error``.

        Raises:
            ModelError: If they cannot be read.
        """
        ...


_IMAGE = 2_000  # tokens of an image, an upper estimate for most models
_LETTERS = 2  # per token; about four in Latin script, one in Chinese


@dataclass(slots=True)
class Conversation:
    """A request and its responses so far: one batch per turn."""

    position: int
    request: Request
    responses: list[Response] = field(default_factory=list)
    custom_id: str = ""
    """Id of the current request, by its content and sample number."""

    def body(self, form: ApiFormat, spec: ServerSpec) -> bytes:
        """Encode the current turn, with the conversation before it."""
        messages: list[dict[str, Any]] = []
        for n, turns in enumerate(self.request.prompt.rounds()):
            messages += map(form.message, turns)
            if n == len(self.responses):
                break
            text = strip_reasoning(self.responses[n].text, spec.thinking_tags)
            messages.append(form.message(Turn("assistant", (text,))))
        body = form.body(self.request, messages)
        self.custom_id = f"{sha256(body).hexdigest()[:48]}-{self.request.sample}"
        return body

    def most(self, spec: ServerSpec) -> TokenCounts:
        """An upper estimate of the tokens, for the budget."""
        turns = self.request.prompt.turns
        letters = sum(len(part) for t in turns for part in t.parts if isinstance(part, str))
        letters += sum(len(response.text) for response in self.responses)
        images = len(self.request.prompt.images)
        return TokenCounts(
            prompt=100 + letters // _LETTERS + images * _IMAGE, completion=spec.max_tokens
        )

    def take(self, response: Response) -> Response | None:
        """Add a response; returns the final one, or an error."""
        if response.error:
            return response
        self.responses.append(response)
        if len(self.responses) < len(self.request.prompt.rounds()):
            return None
        combined = Response.together(self.responses)
        return combined if len(self.responses) > 1 else response


_SHOWN = 300  # characters of a server's message


def decode_result(
    line: bytes, wire: BatchClient, decode: Callable[[dict[str, Any]], Response]
) -> tuple[str, Response]:
    """Decode a line of results: custom_id and response, without keys.

    Raises:
        ModelError: If it is not a JSON object: then its request is unknown.
    """
    redacted = wire.secrets.redacted_bytes(line)  # before a message truncates it
    result_line = json_object(redacted, "a line of the results of a batch")
    response = decode(result_line)
    if redacted != line:
        names = wire.secrets.names_in(line.decode("utf-8", "replace"))
        response = note_redaction(response, names, wire.place)
    return str(result_line.get("custom_id")), response


def decode_batch_response(form: ApiFormat, body: bytes) -> Response:
    """Decode a response of a batch; its time is unknown."""
    outcome = decode_response(form, body, 0.0, {})
    if isinstance(outcome, Response):
        return replace(outcome, seconds=None)
    return failed_response(outcome)


def failed_response(failure: Failure) -> Response:
    """The error of a request that the server answered with one."""
    return Response(error=f"in a batch: {failure}", refused=failure.refusal)


def unsent_response(kind: object, message: object) -> Response:
    """The error of a request without a response.

    >>> unsent_response("batch_expired", "too late").error, unsent_response("canceled", "").error
    ('in a batch: batch_expired: too late', 'in a batch: canceled')
    """
    reason = ": ".join(str(part)[:_SHOWN] for part in (kind, message) if part)
    error = f"in a batch: {reason or 'no reason given'}"
    return Response(error=error, refused=refusal_kind(reason))
