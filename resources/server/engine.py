"""Runs models behind servers: vLLM, SGLang, llama.cpp, hosted ones."""

import asyncio
import io
import logging
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic, perf_counter
from typing import Any, TypeAlias

import aiohttp
import orjson

from bench_assets.core.chat import Decoding, Reply, Request, Turn
from bench_assets.core.errors import ImageError, ModelError
from bench_assets.core.reasoning import without_reasoning
from bench_assets.core.secrets import Secrets
from resources.replies.earlier import Tokens
from resources.replies.engine import ReadImage
from resources.replies.shown_pictures import SERVED, ShownPictures
from resources.server.background import Arrival, Hand, in_background
from resources.server.bodies import MOST_BYTES, body_of
from resources.server.budget import Budget, has_budget
from resources.server.endpoints import Endpoints
from resources.server.errors import failure
from resources.server.formats.anthropic import Anthropic
from resources.server.formats.format import Format
from resources.server.formats.gemini import Gemini
from resources.server.formats.openai import OpenAI
from resources.server.formats.reading import read
from resources.server.retrying import AS_OFTEN_AS_ALLOWED, Failure, Retrying
from resources.settings.bench_toml import hidden_beside, secret, too_short
from resources.settings.server_spec import ServerSpec
from resources.settings.servers import FormatName

FormatOf: TypeAlias = Callable[[ServerSpec, ReadImage], Format]

_log = logging.getLogger("bench_assets.server")
_CONNECT = 30.0  # s; longest wait for a connection
_FORMATS: Mapping[FormatName, FormatOf] = {
    "openai": OpenAI,
    "anthropic": Anthropic,
    "gemini": Gemini,
}


class ServerEngine:
    """Asks a server in the words of its API, many requests at once.

    Pictures travel as the bytes they were stored as where every server shows them alike (plain JPEG
    and PNG), else as PNG. Where a server keeps reasoning apart, the reply has it in front as
    ``<think>...</think>``. Every retry is in the log ``bench_assets.server``.
    """

    def __init__(
        self,
        spec: ServerSpec,
        read_image: ReadImage,
        *,
        spent: Callable[[str], Tokens] = lambda _: Tokens(),
        base_delay: float = 0.5,
        rng: random.Random | None = None,
        format_of: FormatOf | None = None,
    ) -> None:
        """Prepare to ask; nothing is sent yet.

        Args:
            spec: The server, and how it is asked.
            read_image: Finds the pictures that prompts name.
            spent: Identity -> tokens of what was asked before, which the budget counts as well.
            base_delay: s; about as long is waited before the second try, then twice as long, ...
            rng: Spreads the retries of many requests; by default another way every time.
            format_of: Another API than those that ``spec.format`` can name.
        """
        self._spec = spec
        self._form = (format_of or _FORMATS[spec.format])(spec, read_image)
        self._shown = ShownPictures(read_image, SERVED)
        self._spent = spent
        self._base_delay = base_delay
        self._rng = rng or random.Random()

    @property
    def identity(self) -> str:
        """Address, model name and revision, and whatever else every request says or leaves out."""
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
        """Answer requests, as many at once as the servers bear; yields each reply as it arrives.

        Closing the iterator early cancels what is under way. When the budget is spent, what is
        under way still arrives, and the rest comes back unasked, with ``error``.

        Raises:
            ModelError: If the server cannot be reached, or refuses us before its first reply.
            SettingsError: If the environment lacks the key.
        """
        key = secret(self._spec.api_key_env) if self._spec.api_key_env else ""
        if warning := too_short(self._spec.api_key_env):
            _log.warning("%s", warning)
        replies = in_background(partial(self._answer_all, requests, key))
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
        async with _session(spec, self._form, key) as session:
            secrets = hidden_beside(spec.model_dump())
            endpoints = Endpoints(spec, self._form.path)
            line = _Line(spec, self._form, session, endpoints, retrying, secrets)

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
                    for _ in range(min(_at_once(spec), len(requests))):
                        workers.create_task(work())
            except ExceptionGroup as failed:
                raise failed.exceptions[0] from None
            if refused:
                raise refused[0]


@dataclass(frozen=True, slots=True)
class _Line:
    """Holds conversations with a server, at any of its addresses, over one session."""

    spec: ServerSpec
    form: Format
    session: aiohttp.ClientSession
    endpoints: Endpoints
    retrying: Retrying
    secrets: Secrets  # taken out of all that comes, before it is read and cut

    async def answer(self, request: Request) -> Reply:
        """Have every open user turn answered; the last answer, with the tokens of all of them.

        Earlier answers are sent back without their reasoning, as chat templates expect them.
        """
        if (most := self.spec.max_images) and (n := len(request.prompt.images)) > most:
            return Reply(error=f"cannot be sent: {n} pictures, and max_images is {most}")
        messages: list[dict[str, Any]] = []
        replies: list[Reply] = []
        try:
            for asked in request.prompt.rounds():
                messages += map(self.form.message, asked)
                body = self.form.body(request, messages)
                replies.append(await self.retrying.reply(partial(self._post, body)))
                if replies[-1].error:
                    return replies[-1]
                text = without_reasoning(replies[-1].text, self.spec.thinking_tags)
                messages.append(self.form.message(Turn("assistant", (text,))))
        except (ImageError, orjson.JSONEncodeError) as why:
            return Reply(error=f"cannot be sent: {why}")
        if not replies:
            return Reply(error="cannot be sent: no user turn of the prompt is left to be answered")
        return Reply.together(replies)

    async def _post(self, body: bytes) -> Reply | Failure:
        async with self.endpoints.least_loaded() as endpoint:
            sent_at = monotonic()
            outcome = await self._post_to(endpoint.url, body)
            endpoint.learn(outcome, sent_at)
            return outcome

    async def _post_to(self, url: str, body: bytes) -> Reply | Failure:
        started = perf_counter()
        sent = io.BytesIO(body)  # aiohttp warns of plain bytes beyond a mebibyte
        try:
            async with self.session.post(url, data=sent, allow_redirects=False) as response:
                data = await body_of(response)
        except aiohttp.InvalidURL:
            return Failure(what="not a URL such as http://127.0.0.1:8000/v1", refused=True)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as why:
            what = self.secrets.redacted(str(why))
            return Failure(what=what, tries=AS_OFTEN_AS_ALLOWED, unreachable=True)
        except TimeoutError:
            what = f"no reply within {self.spec.timeout:g} s"
            return Failure(what=what, tries=AS_OFTEN_AS_ALLOWED)
        except aiohttp.ClientError as why:
            broken = self.secrets.redacted(str(why)) or type(why).__name__
            what = f"the connection broke: {broken}"
            return Failure(what=what, tries=AS_OFTEN_AS_ALLOWED)
        return self._outcome(response, data, perf_counter() - started)

    def _outcome(
        self, response: aiohttp.ClientResponse, data: bytes | None, seconds: float
    ) -> Reply | Failure:
        if data is None:
            what = f"HTTP {response.status} with a body of more than {MOST_BYTES >> 20} MiB"
            return Failure(what=what, tries=2)
        data = self.secrets.redacted_bytes(data)
        if response.status == 200:
            return read(self.form, data, seconds, response.headers)
        return failure(response.status, data, response.headers)


def _at_once(spec: ServerSpec) -> int:
    return spec.concurrency * len(spec.addresses)


def _session(spec: ServerSpec, form: Format, key: str) -> aiohttp.ClientSession:
    headers = {"Content-Type": "application/json", **form.headers}
    if key:
        header = spec.key_header or spec.knows.key_header
        headers[header] = f"Bearer {key}" if header == "Authorization" else key
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=_at_once(spec)),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        timeout=aiohttp.ClientTimeout(total=spec.timeout, sock_connect=_CONNECT),
    )
