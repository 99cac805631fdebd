"""Engines of models behind servers: vLLM, SGLang, llama.cpp, hosted APIs."""

import asyncio
import itertools
import logging
import random
from collections.abc import Callable, Coroutine, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from bench_assets.core.schema.chat import Decoding, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.config.environment import read_secret
from bench_resources.config.sections.known_servers import FormatName
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.event_loop import Arrival, Hand, stream_in_thread
from bench_resources.response_cache.engine import ReadImage
from bench_resources.response_cache.rows import TokenCounts

if TYPE_CHECKING:
    import aiohttp

    from bench_resources.models.api.budget import Budget
    from bench_resources.models.api.concurrency_limit import Endpoint
    from bench_resources.models.api.formats.base import ApiFormat

FormatOf: TypeAlias = "Callable[[ServerSpec, ReadImage], ApiFormat]"
Spent: TypeAlias = Callable[[str], TokenCounts]  # identity -> tokens of its cached responses
Work: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

_log = logging.getLogger("bench_assets.server")
_CONNECT_TIMEOUT = 30.0  # s
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "gzip, deflate"}
_PREFIX = 2000  # characters of a prompt by which requests are grouped


def format_of(name: FormatName) -> FormatOf:
    """The format of an API, imported when something is sent."""
    class_name = {"openai": "OpenAI", "anthropic": "Anthropic"}[name]
    formats: FormatOf = resolve_name(f"bench_resources.models.api.formats.{name}:{class_name}")
    return formats


def no_tokens(_: str) -> TokenCounts:
    """The token counts of a model without cached responses."""
    return TokenCounts()


class ServerEngine:
    """Sends chat requests to a server, many at once.

    Images are sent as stored where every server decodes them alike (plain JPEG and PNG), else as
    PNG. Reasoning that a server returns separately is put in front of the text as
    ``<think>...</think>``. Retries are logged to ``bench_assets.server``.

    Closing a stream early cancels the open requests. When the budget is spent, open requests are
    still answered, and the others get ``error``.
    """

    def __init__(
        self,
        spec: ServerSpec,
        read_image: ReadImage,
        *,
        spent: Spent = no_tokens,
        base_delay: float = 0.5,
    ) -> None:
        """Store the configuration; nothing is sent yet.

        Args:
            spec: The server's section.
            read_image: Reads an image by digest.
            spent: Tokens of cached responses, which count towards the budget.
            base_delay: Wait before the first retry in s, doubled for each further one.
        """
        self._read_image = read_image
        self._spec = spec
        self.identity = spec.identity_of()  # ``prepare`` knows that of weights in a folder
        self._spent = spent
        self._base_delay = base_delay
        self._rng = random.Random()

    @property
    def decoding(self) -> Decoding:
        """The default decoding of a request."""
        return self._spec.decoding

    @property
    def peak_memory(self) -> int | None:
        """Unknown for servers."""
        return None

    def stream(self, requests: Sequence[Request]) -> Iterator[Arrival]:
        """Yield each response as it arrives."""
        if self._spec.text_only:
            requests = [
                replace(request, prompt=request.prompt.without_images()) for request in requests
            ]
        yield from stream_in_thread(partial(self._answer_all, requests, self._key()))

    def close(self) -> None:
        """Do nothing: no resource is held between two streams."""

    @property
    def _format(self) -> "ApiFormat":
        return format_of(self._spec.format)(self._spec, self._read_image)

    def _budget(self) -> "Budget":
        from bench_resources.models.api.budget import Budget

        spec = self._spec
        return Budget(spec, self._spent(self.identity) if spec.has_budget else TokenCounts())

    def _headers(self, key: str) -> dict[str, str]:
        header = self._spec.key_header or self._spec.knows.key_header
        bearing = f"Bearer {key}" if header == "Authorization" else key
        return {**self._format.headers, **({header: bearing} if key else {})}

    @property
    def _proxy(self) -> str | None:
        """Proxy of the environment for a hosted model; servers at http:// are near.

        aiohttp's ``trust_env`` would also send passwords of ~/.netrc.
        """
        address = urlsplit(self._spec.address)
        is_direct = address.scheme != "https" or proxy_bypass(address.hostname or "")
        return None if is_direct else getproxies().get("https")

    def _key(self) -> str:
        name = self._spec.api_key_env
        return read_secret(name) if name else ""

    @property
    def elicits(self) -> frozenset[str]:
        """One of several options, which a server of OpenAI's format may support; probes decide."""
        return frozenset({"constrained"} if self._spec.format == "openai" else ())

    async def _answer_all(self, requests: Sequence[Request], key: str, hand: Hand) -> None:
        from bench_resources.http.backoff import RetryPolicy
        from bench_resources.models.api.chat_session import ChatSession
        from bench_resources.models.api.concurrency_limit import Endpoint
        from bench_resources.models.api.option_requests import OptionSession

        spec, waits, api = self._spec, (self._base_delay, self._rng), self._format
        budget = self._budget()
        waiting = ((position, requests[position]) for position in _group_requests(requests))
        async with self._session(key) as session:
            chat = ChatSession(
                spec,
                api,
                session,
                Endpoint(spec, api.path),
                RetryPolicy(spec, *waits),
                self._wait_until_ready,
            )
            probing = replace(chat, retrying=RetryPolicy(spec, *waits, probes=True))
            option_session = OptionSession(chat, probing)
            refused: list[ModelError] = []

            async def work() -> None:
                for position, request in waiting:
                    if refused:
                        return  # other open requests may still be answered and are cached
                    reason = budget.exhausted_reason()
                    try:
                        response = (
                            Response(error=reason)
                            if reason
                            else await option_session.answer(request)
                        )
                    except ModelError as exc:
                        refused.append(exc)
                        return
                    budget.count(response)
                    await hand((position, response))

            try:
                await self._run_workers(work, chat.endpoint, len(requests))
            except ExceptionGroup as failed:
                raise failed.exceptions[0] from None
            if refused:
                raise refused[0]

    async def _wait_until_ready(self) -> None:
        """After a failure, wait until a server is ready; only started servers restart.

        Raises:
            ModelError: If no server is left.
        """

    async def _run_workers(self, work: Work, endpoint: "Endpoint", most: int) -> None:
        """Run as many workers as the concurrency limit, and add some when it grows."""
        tasks: list[asyncio.Task[None]] = []
        async with asyncio.TaskGroup() as workers:

            def add() -> None:
                missing = min(int(endpoint.limit.value), most) - len(tasks)
                tasks.extend(workers.create_task(work()) for _ in range(missing))

            endpoint.on_growth = add
            add()

    def _session(self, key: str) -> "aiohttp.ClientSession":
        import aiohttp

        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),  # as many as there are workers
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={**_HEADERS, **self._headers(key)},
            proxy=self._proxy,
            timeout=aiohttp.ClientTimeout(total=self._spec.timeout, sock_connect=_CONNECT_TIMEOUT),
        )


def _group_requests(requests: Sequence[Request]) -> Iterator[int]:
    """Positions of requests, grouped by images or by the beginning of a text prompt.

    Servers that cache prefixes can then reuse them.
    """
    groups: dict[Hashable, list[int]] = {}
    for position, request in enumerate(requests):
        shared = request.prompt.images or request.prompt.to_json()[:_PREFIX]
        groups.setdefault(shared, []).append(position)
    return itertools.chain.from_iterable(groups.values())
