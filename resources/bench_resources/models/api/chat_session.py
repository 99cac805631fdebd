"""Chat session: one conversation with a server, with retries."""

import io
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic, perf_counter
from typing import Any

import aiohttp
import orjson

from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.schema.chat import IMAGE_REFUSED, Request, Response, Turn
from bench_assets.core.schema.errors import ImageError
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.backoff import UNLIMITED_TRIES, Failure, RetryPolicy
from bench_resources.http.errors import MOST_BYTES, classify_error, read_body
from bench_resources.http.pages import connection_problem
from bench_resources.models.api.concurrency_limit import Endpoint
from bench_resources.models.api.formats.base import ApiFormat
from bench_resources.models.api.formats.response_body import decode_response
from bench_resources.redaction.responses import note_redaction

_SUSPENSION = 30.0  # s by which a timeout is late if this process was suspended


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSession:
    """Conversations with a server over one HTTP session, with retries."""

    spec: ServerSpec
    api_format: ApiFormat
    session: aiohttp.ClientSession
    endpoint: Endpoint
    retry_policy: RetryPolicy
    wait_until_ready: Callable[[], Awaitable[None]]

    async def answer(self, request: Request) -> Response:
        """Answer every open user turn; returns the last response, or the first error.

        The last response has the tokens of all rounds. Earlier ones are sent back without their
        reasoning, as chat templates expect.
        """
        n_images, max_images = len(request.prompt.images), self.spec.max_images
        if max_images and n_images > max_images:
            error = f"cannot be sent: {n_images} images, but max_images = {max_images}"
            return Response(error=error, refused=IMAGE_REFUSED)
        messages: list[dict[str, Any]] = []
        responses: list[Response] = []
        try:
            for turns in request.prompt.rounds():
                messages += map(self.api_format.to_message, turns)
                body = self.api_format.encode(request, messages)
                response = await self.retry_policy.retry(partial(self._post, body))
                if response.error:
                    return response
                responses.append(response)
                text = strip_reasoning(response.text, self.spec.thinking_tags)
                messages.append(self.api_format.to_message(Turn("assistant", (text,))))
        except (ImageError, orjson.JSONEncodeError) as exc:
            return Response(error=f"cannot be sent: {exc}")
        if not responses:
            return Response(error="cannot be sent: the prompt has no unanswered user turn")
        return Response.combine(responses)

    async def _post(self, body: bytes) -> Response | Failure:
        """Send a request within the concurrency limit; if the server fails, wait for it."""
        async with self.endpoint.slot():
            sent_at = monotonic()
            outcome = await self._send(body)
            self.endpoint.adapt_limit(outcome, sent_at)
        if isinstance(outcome, Failure) and (outcome.unreachable or outcome.is_overload):
            await self.wait_until_ready()
        return outcome

    async def _send(self, body: bytes) -> Response | Failure:
        """Send a request once; whatever goes wrong is a ``Failure``."""
        started_at = perf_counter()
        stream = io.BytesIO(body)  # aiohttp warns about plain bytes beyond a mebibyte
        try:
            async with self.session.post(
                self.endpoint.url, data=stream, allow_redirects=False
            ) as response:
                data = await read_body(response)
        except aiohttp.InvalidURL:
            return Failure(what="not a URL such as http://127.0.0.1:8000/v1", refused=True)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            message = self.endpoint.secrets.redacted(connection_problem(error))
            return Failure(what=message, tries=UNLIMITED_TRIES, unreachable=True)
        except TimeoutError:
            message = f"no response within {self.spec.timeout:g} s"
            is_stalled = perf_counter() - started_at > self.spec.timeout + _SUSPENSION
            return Failure(what=message, tries=UNLIMITED_TRIES, stalled=is_stalled)
        except aiohttp.ClientError as error:
            reason = self.endpoint.secrets.redacted(str(error)) or type(error).__name__
            return Failure(what=f"the connection broke: {reason}", tries=UNLIMITED_TRIES)
        return self._decode(response, data, perf_counter() - started_at)

    def _decode(
        self, response: aiohttp.ClientResponse, data: bytes | None, seconds: float
    ) -> Response | Failure:
        """Redact and decode a body; ``data`` is None if it was too large to be read."""
        if data is None:
            message = f"HTTP {response.status} with a body of more than {MOST_BYTES >> 20} MiB"
            return Failure(what=message, tries=2)
        redacted = self.endpoint.secrets.redacted_bytes(data)  # before a message truncates it
        if response.status != 200:
            return classify_error(response.status, redacted, response.headers)
        outcome = decode_response(self.api_format, redacted, seconds, response.headers)
        if redacted != data and isinstance(outcome, Response):
            names = self.endpoint.secrets.names_in(data.decode("utf-8", "replace"))
            return note_redaction(outcome, names, self.spec.place)
        return outcome
