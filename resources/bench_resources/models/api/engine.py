"""Engines of models behind servers: vLLM, SGLang, llama.cpp, hosted APIs."""

import asyncio
import itertools
import logging
import random
from collections.abc import Callable, Coroutine, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.config.environment import read_secret
from bench_resources.config.sections.known_servers import FormatName
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.event_loop import Arrival, Hand, stream_in_thread
from bench_resources.http.proxies import proxy_of
from bench_resources.models.api.budget import Budget
from bench_resources.models.api.concurrency_limit import Endpoint
from bench_resources.response_cache.engine import ReadImage
from bench_resources.response_cache.rows import TokenCounts

if TYPE_CHECKING:
    import aiohttp

    from bench_resources.models.api.formats.base import ApiFormat
    from bench_resources.models.api.option_requests import OptionSession

FormatOf: TypeAlias = "Callable[[ServerSpec, ReadImage], ApiFormat]"
Spent: TypeAlias = Callable[[str], TokenCounts]  # identity -> tokens of its cached responses
Work: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

_log = logging.getLogger("bench_assets.server")
_CONNECT_TIMEOUT = 30.0  # s to connect to a server
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "gzip, deflate"}
_PREFIX_LENGTH = 2000  # characters of a prompt by which requests are grouped


def format_of(name: FormatName) -> FormatOf:
    """Import the class of an API's format."""
    if name == "anthropic":
        from bench_resources.models.api.formats.anthropic import Anthropic

        return Anthropic
    from bench_resources.models.api.formats.openai import OpenAI

    return OpenAI


def no_tokens(_identity: str) -> TokenCounts:
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

    peak_memory = None

    def __init__(
        self,
        spec: ServerSpec,
        read_image: ReadImage,
        *,
        spent: Spent = no_tokens,
        base_delay: float = 0.5,
    ) -> None:
        """Store the configuration; nothing is sent yet.

        ``spent`` returns the tokens of cached responses, which count towards the budget.
        ``base_delay`` is the wait before the first retry in s, doubled for each further one.
        """
        self._read_image = read_image
        self._spec = spec
        self.identity = spec.identity_of()  # that of weights in a folder is set by ``prepare``
        self.decoding = spec.decoding
        self._spent = spent
        self._base_delay = base_delay
        self._rng = random.Random()

    def stream(self, requests: Sequence[Request]) -> Iterator[Arrival]:
        """Yield each response as it arrives."""
        if self._spec.text_only:
            requests = [
                replace(request, prompt=request.prompt.without_images()) for request in requests
            ]
        yield from stream_in_thread(partial(self._answer_all, requests))

    def close(self) -> None:
        """Do nothing: no resource is held between two streams."""

    @property
    def _format(self) -> "ApiFormat":
        return format_of(self._spec.format)(self._spec, self._read_image)

    def _budget(self) -> Budget:
        spec = self._spec
        return Budget(spec, self._spent(self.identity) if spec.has_budget else TokenCounts())

    def _headers(self) -> dict[str, str]:
        """Headers of every request, with the key if there is one."""
        headers = {**_HEADERS, **self._format.headers}
        if self._spec.api_key_env:
            key = read_secret(self._spec.api_key_env)
            name = self._spec.key_header or self._spec.features.key_header
            headers[name] = f"Bearer {key}" if name == "Authorization" else key
        return headers

    @property
    def elicits(self) -> frozenset[str]:
        """Methods that servers of the format may support; a probe decides if this one does."""
        return frozenset({"constrained"} if self._spec.format == "openai" else ())

    async def _answer_all(self, requests: Sequence[Request], hand: Hand) -> None:
        """Hand over the response to each request with its position; raises the first fatal error.

        The requests that are open then are still answered.
        """
        api_format, budget = self._format, self._budget()
        queue = ((position, requests[position]) for position in _grouped_positions(requests))
        async with self._session() as session:
            endpoint = Endpoint(self._spec, api_format.path)
            option_session = self._option_session(session, api_format, endpoint)
            fatal_errors: list[ModelError] = []

            async def work() -> None:
                for position, request in queue:
                    if fatal_errors:
                        return  # other open requests may still be answered and are cached
                    if reason := budget.exhausted_reason():
                        response = Response(error=reason)
                    else:
                        try:
                            response = await option_session.answer(request)
                        except ModelError as exc:
                            fatal_errors.append(exc)
                            return
                    budget.count(response)
                    await hand((position, response))

            try:
                await self._run_workers(work, endpoint, len(requests))
            except ExceptionGroup as group:
                raise group.exceptions[0] from None
            if fatal_errors:
                raise fatal_errors[0]

    def _option_session(
        self, session: "aiohttp.ClientSession", api_format: "ApiFormat", endpoint: Endpoint
    ) -> "OptionSession":
        from bench_resources.http.backoff import RetryPolicy
        from bench_resources.models.api.chat_session import ChatSession
        from bench_resources.models.api.option_requests import OptionSession

        spec, base_delay, rng = self._spec, self._base_delay, self._rng
        policy = RetryPolicy(spec, base_delay, rng)
        probe_policy = RetryPolicy(spec, base_delay, rng, probes=True)
        chat = ChatSession(
            spec=spec,
            api_format=api_format,
            session=session,
            endpoint=endpoint,
            retry_policy=policy,
            wait_until_ready=self._wait_until_ready,
        )
        return OptionSession(chat, replace(chat, retry_policy=probe_policy))

    async def _wait_until_ready(self) -> None:
        """Do nothing after a failure: only the servers of a ``ServedEngine`` restart."""

    async def _run_workers(self, work: Work, endpoint: Endpoint, max_workers: int) -> None:
        """Run as many workers as the concurrency limit, and add some when it grows."""
        tasks: list[asyncio.Task[None]] = []
        async with asyncio.TaskGroup() as group:

            def add_workers() -> None:
                n_missing = min(int(endpoint.limit.value), max_workers) - len(tasks)
                tasks.extend(group.create_task(work()) for _ in range(n_missing))

            endpoint.on_growth = add_workers
            add_workers()

    def _session(self) -> "aiohttp.ClientSession":
        import aiohttp

        address = self._spec.address
        is_hosted = address.startswith("https:")
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),  # as many as there are workers
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers(),
            proxy=proxy_of(address) if is_hosted else None,
            timeout=aiohttp.ClientTimeout(total=self._spec.timeout, sock_connect=_CONNECT_TIMEOUT),
        )


def _grouped_positions(requests: Sequence[Request]) -> Iterator[int]:
    """Positions of requests, grouped by images or by the beginning of a text prompt.

    Servers that cache prefixes can then reuse them.
    """
    groups: dict[Hashable, list[int]] = {}
    for position, request in enumerate(requests):
        prefix = request.prompt.images or request.prompt.to_json()[:_PREFIX_LENGTH]
        groups.setdefault(prefix, []).append(position)
    return itertools.chain.from_iterable(groups.values())
