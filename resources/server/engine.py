"""Runs models behind servers: vLLM, SGLang, llama.cpp, hosted ones."""

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

import aiohttp

from bench_assets.core.chat import Decoding, Reply, Request
from bench_assets.core.errors import ModelError
from resources.replies.earlier import Tokens
from resources.replies.engine import ReadImage
from resources.replies.shown_pictures import SERVED, ShownPictures
from resources.server.background import Arrival, Hand, in_background
from resources.server.budget import Budget, has_budget
from resources.server.endpoints import Endpoints
from resources.server.formats.anthropic import Anthropic
from resources.server.formats.format import Format
from resources.server.formats.gemini import Gemini
from resources.server.formats.openai import OpenAI
from resources.server.line import Line
from resources.server.retrying import Retrying
from resources.settings.environment import hidden_beside, secret, too_short
from resources.settings.server_spec import ServerSpec
from resources.settings.servers import FormatName

FormatOf: TypeAlias = Callable[[ServerSpec, ReadImage], Format]
Spent: TypeAlias = Callable[[str], Tokens]
Addresses: TypeAlias = Callable[[], Sequence[str]]

_log = logging.getLogger("bench_assets.server")
_CONNECT = 30.0  # s; longest wait for a connection
_LOOK = 0.2  # s between two looks at addresses that may change
FORMATS: Mapping[FormatName, FormatOf] = {
    "openai": OpenAI,
    "anthropic": Anthropic,
    "gemini": Gemini,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """Who answers and where, when addresses tell neither."""

    identity: Callable[[], str]
    """What tells its replies from those of others."""
    addresses: Addresses | None = None
    """Where to ask at the moment, looked at again and again; None: where the section says."""


def no_tokens(_: str) -> Tokens:
    """What was asked before, where nothing was."""
    return Tokens()


class ServerEngine:
    """Asks a server in the words of its API, many requests at once.

    Pictures travel as the bytes they were stored as where every server shows them alike (plain JPEG
    and PNG), else as PNG. Where a server keeps reasoning apart, the reply has it in front as
    ``<think>...</think>``. Every retry is in the log ``bench_assets.server``.
    """

    def __init__(  # noqa: PLR0913 - all but two have a default
        self,
        spec: ServerSpec,
        read_image: ReadImage,
        *,
        spent: Spent = no_tokens,
        base_delay: float = 0.5,
        rng: random.Random | None = None,
        format_of: FormatOf | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        """Prepare to ask; nothing is sent yet.

        Args:
            spec: The server, and how it is asked.
            read_image: Finds the pictures that prompts name.
            spent: Identity -> tokens of what was asked before, which the budget counts as well.
            base_delay: s; about as long is waited before the second try, then twice as long, ...
            rng: Spreads the retries of many requests; by default another way every time.
            format_of: Another API than those that ``spec.format`` can name.
            elsewhere: Who answers, and where, instead of what ``spec`` says.
        """
        self._spec = spec
        self._form = (format_of or FORMATS[spec.format])(spec, read_image)
        self._shown = ShownPictures(read_image, SERVED)
        self._spent = spent
        self._base_delay = base_delay
        self._rng = rng or random.Random()
        self._identity = elsewhere.identity if elsewhere else lambda: spec.identity
        self._addresses = elsewhere.addresses if elsewhere else None

    @cached_property  # named with each request
    def identity(self) -> str:
        """Address, model name and revision, and whatever else every request says or leaves out."""
        return self._identity()

    @property
    def decoding(self) -> Decoding:
        """How replies are drawn where a request does not say otherwise."""
        return self._spec.decoding

    @property
    def peak_memory(self) -> int | None:
        """Servers keep that to themselves."""
        return None

    def stream(self, requests: Sequence[Request]) -> Iterator[Arrival]:
        """Answer requests, as many at once as the servers bear; yields each reply as it arrives.

        Closing the iterator early cancels what is under way. When the budget is spent, what is
        under way still arrives, and the rest comes back unasked, with ``error``.

        Raises:
            ModelError: If the server cannot be reached, or refuses us before its first reply.
            SettingsError: If the environment lacks the key.
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
        retrying = Retrying(spec, self._base_delay, self._rng)
        budget = Budget(spec, self._spent(self.identity) if has_budget(spec) else Tokens())
        waiting = iter(enumerate(requests))
        known = self._addresses() if self._addresses else spec.addresses
        async with _session(spec, self._form, key) as session:
            secrets = hidden_beside(spec.model_dump())
            endpoints = Endpoints(spec, self._form.path, known)
            line = Line(
                spec,
                self._form,
                session,
                endpoints,
                retrying,
                secrets,
                moves=self._addresses is not None,
            )

            refused: list[ModelError] = []

            async def work() -> None:
                for position, request in waiting:
                    if refused:
                        return  # what is under way elsewhere may still be answered: it is kept
                    over = budget.why_over()
                    try:
                        reply = Reply(error=over) if over else await line.answer(request)
                    except ModelError as why:
                        refused.append(why)
                        return
                    budget.count(reply)
                    await hand((position, reply))

            try:
                async with asyncio.TaskGroup() as workers:
                    at_work: set[asyncio.Task[None]] = set()
                    n = _hire(workers, at_work, work, min(endpoints.bear, len(requests)))
                    while self._addresses and at_work:
                        _, at_work = await asyncio.wait(at_work, timeout=_LOOK)
                        await endpoints.now(self._addresses())
                        more = min(endpoints.bear, len(requests)) - n
                        n += _hire(workers, at_work, work, more)
            except ExceptionGroup as failed:
                raise failed.exceptions[0] from None
            if refused:
                raise refused[0]


def _hire(
    workers: asyncio.TaskGroup,
    at_work: set[asyncio.Task[None]],
    work: Callable[[], Coroutine[Any, Any, None]],
    n: int,
) -> int:
    """Set so many more to work, if any; how many."""
    at_work.update(workers.create_task(work()) for _ in range(n))
    return max(n, 0)


def headers_of(spec: ServerSpec, form: Format, key: str) -> dict[str, str]:
    """What goes out with every request, the key among it."""
    header = spec.key_header or spec.knows.key_header
    bearing = f"Bearer {key}" if header == "Authorization" else key
    return {**form.headers, **({header: bearing} if key else {})}


def key_of(spec: ServerSpec) -> str:
    """The key of a server; "" if it needs none.

    Raises:
        SettingsError: If the environment lacks it.
    """
    key = secret(spec.api_key_env) if spec.api_key_env else ""
    if warning := too_short(spec.api_key_env):
        _log.warning("%s", warning)
    return key


def _session(spec: ServerSpec, form: Format, key: str) -> aiohttp.ClientSession:
    headers = {"Content-Type": "application/json", **headers_of(spec, form, key)}
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),  # as many as there are workers
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        timeout=aiohttp.ClientTimeout(total=spec.timeout, sock_connect=_CONNECT),
    )
