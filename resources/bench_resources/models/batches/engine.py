"""Engine of provider batch APIs."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import aiohttp

from bench_assets.core.schema.chat import IMAGE_REFUSED, Request, Response
from bench_resources.config.environment import section_secrets
from bench_resources.config.sections.known_servers import FormatName
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.event_loop import Arrival, Hand
from bench_resources.models.api.engine import RemoteEngine, Spent, no_tokens
from bench_resources.models.batches.http import BatchClient
from bench_resources.models.batches.ledger import BatchLedger
from bench_resources.models.batches.provider import BatchApi, Conversation
from bench_resources.models.batches.providers import AnthropicBatches, OpenAIBatches
from bench_resources.models.batches.round import BatchRound
from bench_resources.response_cache.engine import ReadImage

_log = logging.getLogger("bench_assets.server")
_APIS: Mapping[FormatName, Callable[[], BatchApi]] = {
    "openai": OpenAIBatches,
    "anthropic": AnthropicBatches,
}
_CONNECT = 30.0  # s


class BatchEngine(RemoteEngine):
    """Submits requests in batches: half the price, responses within a day.

    Open batches are recorded in the home before they are awaited, until their results are stored:
    an interrupted run loses nothing, the next one collects them. The identity is that of the same
    server without batches.
    """

    def __init__(
        self,
        spec: ServerSpec,
        read_image: ReadImage,
        noted: Path,
        *,
        spent: Spent = no_tokens,
        base_delay: float = 5.0,
        patience: float = 3600.0,
    ) -> None:
        """Store the configuration; nothing is sent yet.

        Args:
            spec: Section of the server.
            read_image: Reads an image by digest.
            noted: Folder of the ledger of open batches.
            spent: Tokens of cached responses, by identity.
            base_delay: First wait for a batch, and wait before the first retry, in s.
            patience: Longest time of retries in s: a batch takes a day, during which the network
                may be down for a while.
        """
        super().__init__(spec, read_image, spent, base_delay)
        self._api = _APIS[spec.format]()
        self._noted = BatchLedger(noted, self.identity)
        self._patience = patience
        self._finished: list[BatchRound] = []

    def stream(self, requests: Sequence[Request]) -> Iterator[Arrival]:
        """Yield each response; once all are taken, batches are removed from the ledger."""
        self._finished.clear()  # of a stream that was closed before its end
        yield from super().stream(requests)
        for outcome in self._finished:
            outcome.forget_collected()

    async def _answer_all(self, requests: Sequence[Request], key: str, hand: Hand) -> None:
        spec = self._spec
        budget = self._budget()
        waiting = []
        for position, request in enumerate(requests):
            if rejection := _reject_request(request, spec):
                await hand((position, rejection))
            else:
                waiting.append(Conversation(position, request))
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT, sock_read=spec.timeout)
        async with aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers(key),
            proxy=self._proxy,
            timeout=timeout,
        ) as session:
            secrets = section_secrets(spec.model_dump())
            wire = BatchClient(
                spec, session, secrets, base_delay=self._base_delay, patience=self._patience
            )
            batch_round = BatchRound(spec, self._format, self._api, wire, self._noted, budget)
            try:
                while waiting:
                    waiting = await batch_round.complete(waiting, hand, self._base_delay)
            except asyncio.CancelledError:
                _log.warning(
                    "open batches continue at %s; the next run collects their results", spec.place
                )
                raise
            self._finished.append(batch_round)


def _reject_request(request: Request, spec: ServerSpec) -> Response | None:
    most, n = spec.max_images, len(request.prompt.images)
    if most and n > most:
        error = f"cannot be sent: {n} images, but max_images = {most}"
        return Response(error=error, refused=IMAGE_REFUSED)
    if not request.prompt.rounds():
        return Response(error="cannot be sent: the prompt has no unanswered user turn")
    return None
