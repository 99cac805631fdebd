"""The engine that hands requests over in batches, and waits for them."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import aiohttp

from bench_assets.core.chat import Decoding, Reply, Request
from resources.replies.earlier import Tokens
from resources.replies.engine import ReadImage
from resources.replies.shown_pictures import SERVED, ShownPictures
from resources.server.background import Arrival, Hand, in_background
from resources.server.batches.anthropic import AnthropicBatches
from resources.server.batches.api import BatchApi
from resources.server.batches.conversation import Conversation
from resources.server.batches.noted import Noted
from resources.server.batches.openai import OpenAIBatches
from resources.server.batches.round import Round
from resources.server.batches.wire import Wire
from resources.server.budget import Budget, has_budget
from resources.server.engine import FORMATS, Spent, headers_of, key_of, no_tokens
from resources.settings.environment import hidden_beside
from resources.settings.server_spec import ServerSpec
from resources.settings.servers import FormatName

_log = logging.getLogger("bench_assets.server")
_APIS: Mapping[FormatName, Callable[[], BatchApi]] = {
    "openai": OpenAIBatches,
    "anthropic": AnthropicBatches,
}
_CONNECT = 30.0  # s


class BatchEngine:
    """Asks a provider in batches: half the price, and replies within a day.

    What is out is noted in the home before it is waited for: a run that is ended meanwhile loses
    nothing, the next one collects it. A batch stays noted until all that came of it is stored.
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
        """Prepare; nothing is sent yet.

        Args:
            spec: The server, and how it is asked.
            read_image: Finds the pictures that prompts name.
            noted: Folder for what is out.
            spent: Identity -> tokens of what was asked before.
            base_delay: s; the first wait for a batch, and that before a second try.
            patience: s; longest that something is tried: a batch takes a day, and a network may be
                away for a while of it.
        """
        self._spec = spec
        self._form = FORMATS[spec.format](spec, read_image)
        self._api = _APIS[spec.format]()
        self._shown = ShownPictures(read_image, SERVED)
        self._noted = Noted(noted, spec.identity)
        self._spent = spent
        self._base_delay = base_delay
        self._patience = patience

    @property
    def identity(self) -> str:
        """That of the same server, asked one by one."""
        return self._spec.identity

    @property
    def decoding(self) -> Decoding:
        """How replies are drawn where a request does not say otherwise."""
        return self._spec.decoding

    @property
    def peak_memory(self) -> int | None:
        """Servers keep that to themselves."""
        return None

    def stream(self, requests: Sequence[Request]) -> Iterator[Arrival]:
        """Answer requests; yields them as batches end.

        Closing the iterator early leaves the batches out: the next stream collects them.

        Raises:
            ModelError: If the server cannot be reached, or refuses us.
            SettingsError: If the environment lacks the key.
            HomeError: If a batch cannot be noted.
        """
        replies = in_background(partial(self._answer_all, requests, key_of(self._spec)))
        yield from self._shown.noted(requests, replies)

    def particulars(self, request: Request) -> str:
        """The decoder's version where it changes the pixels of a picture."""
        return self._shown.particulars(request)

    def close(self) -> None:
        """Nothing is held between two streams."""

    async def _answer_all(self, requests: Sequence[Request], key: str, hand: Hand) -> None:
        spec = self._spec
        budget = Budget(spec, self._spent(self.identity) if has_budget(spec) else Tokens())
        waiting = []
        for position, request in enumerate(requests):
            if why := _unfit(request, spec):
                await hand((position, Reply(error=f"cannot be sent: {why}")))
            else:
                waiting.append(Conversation(position, request))
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT, sock_read=spec.timeout)
        async with aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=headers_of(spec, self._form, key),
            timeout=timeout,
        ) as session:
            secrets = hidden_beside(spec.model_dump())
            wire = Wire(
                spec, session, secrets, base_delay=self._base_delay, patience=self._patience
            )
            one = Round(spec, self._form, self._api, wire, self._noted, budget)
            try:
                while waiting:
                    waiting = await one.asked(waiting, hand, self._base_delay)
            except asyncio.CancelledError:
                _log.warning("batches that are out go on at %s; the next run collects", spec.place)
                raise
            one.over()


def _unfit(request: Request, spec: ServerSpec) -> str:
    most, n = spec.max_images, len(request.prompt.images)
    if most and n > most:
        return f"{n} pictures, and max_images is {most}"
    return "" if request.prompt.rounds() else "no user turn of the prompt is left to be answered"
