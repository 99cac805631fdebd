"""Runs models behind servers: vLLM, SGLang, llama.cpp, hosted ones."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias

import aiohttp

from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.errors import ModelError
from resources.config.sections.servers import ServerSpec
from resources.http.backoff import RetryPolicy
from resources.http.event_loop import Hand
from resources.models.api.chat_session import ChatSession
from resources.models.api.load_balancer import Endpoints
from resources.models.api.server_access import AtServer, FormatOf, Spent, no_tokens
from resources.response_cache.engine import ReadImage

Addresses: TypeAlias = Callable[[], Sequence[str]]
Work: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

_CONNECT = 30.0  # s; longest wait for a connection
_LOOK = 0.2  # s between two looks at addresses that may change


class ServerEngine(AtServer):
    """Asks a server in the words of its API, many requests at once.

    Images travel as the bytes they were stored as where every server shows them alike (plain JPEG
    and PNG), else as PNG. Where a server keeps reasoning apart, the response has it in front as
    ``<think>...</think>``. Every retry is in the log ``bench_assets.server``.

    Closing a stream early cancels what is under way. When the budget is spent, what is under way
    still arrives, and the rest comes back unasked, with ``error``.
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
        addresses: Addresses | None = None,
    ) -> None:
        """Prepare to ask; nothing is sent yet.

        Args:
            spec: The server, and how it is asked.
            read_image: Finds the images that prompts name.
            spent: Identity -> tokens of what was asked before, which the budget counts as well.
            base_delay: s; about as long is waited before the second try, then twice as long, ...
            rng: Spreads the retries of many requests; by default another way every time.
            format_of: Another API than those that ``spec.format`` can name.
            addresses: Where to ask at the moment, looked at again and again; None: where ``spec``
                says.
        """
        super().__init__(spec, read_image, spent, base_delay, format_of)
        self._rng = rng or random.Random()
        self._addresses = addresses

    async def _answer_all(self, requests: Sequence[Request], key: str, hand: Hand) -> None:
        spec = self._spec
        budget = self._budget()
        waiting = iter(enumerate(requests))
        known = self._addresses() if self._addresses else spec.addresses
        async with self._session(key) as session:
            endpoints = Endpoints(spec, self._form.path, known)
            line = ChatSession(
                spec,
                self._form,
                session,
                endpoints,
                RetryPolicy(spec, self._base_delay, self._rng),
                moves=self._addresses is not None,
            )
            refused: list[ModelError] = []

            async def work() -> None:
                for position, request in waiting:
                    if refused:
                        return  # what is under way elsewhere may still be answered: it is kept
                    over = budget.why_over()
                    try:
                        response = Response(error=over) if over else await line.answer(request)
                    except ModelError as why:
                        refused.append(why)
                        return
                    budget.count(response)
                    await hand((position, response))

            try:
                await self._by_many(work, endpoints, len(requests))
            except ExceptionGroup as failed:
                raise failed.exceptions[0] from None
            if refused:
                raise refused[0]

    async def _by_many(self, work: Work, endpoints: Endpoints, most: int) -> None:
        """Have as many at work as the servers bear, also those that come meanwhile."""
        async with asyncio.TaskGroup() as workers:
            at_work: set[asyncio.Task[None]] = set()
            n = _hire(workers, at_work, work, min(endpoints.bear, most))
            while self._addresses and at_work:
                _, at_work = await asyncio.wait(at_work, timeout=_LOOK)
                await endpoints.now(self._addresses())
                n += _hire(workers, at_work, work, min(endpoints.bear, most) - n)

    def _session(self, key: str) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),  # as many as there are workers
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Content-Type": "application/json", **self._headers(key)},
            timeout=aiohttp.ClientTimeout(total=self._spec.timeout, sock_connect=_CONNECT),
        )


def _hire(workers: asyncio.TaskGroup, at_work: set[asyncio.Task[None]], work: Work, n: int) -> int:
    """Set so many more to work, if any; how many."""
    at_work.update(workers.create_task(work()) for _ in range(n))
    return max(n, 0)
