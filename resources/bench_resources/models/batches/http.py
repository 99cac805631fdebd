"""HTTP requests to batch APIs, with retries that never submit a batch twice."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from time import monotonic
from typing import Any

import aiohttp
import orjson

from bench_assets.core.schema.errors import ModelError
from bench_assets.core.text.redaction import Secrets
from bench_resources.config.addresses import fill_keys
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.backoff import UNLIMITED_TRIES, Failure, backoff_delay
from bench_resources.http.errors import MOST_BYTES, body_of, failure
from bench_resources.http.pages import connection_problem

_log = logging.getLogger("bench_assets.server")
_MAX_WAIT = 60.0  # s between two tries
_MAY_HAVE_ARRIVED = {408, 500, 502, 504}  # statuses after which the request may be in effect


class TooLargeError(Exception):
    """The batch exceeds the server's limit."""


class UncertainError(Exception):
    """A batch was sent, and it is unknown whether it arrived."""


class GoneError(ModelError):
    """The server knows no batch of that id."""


class BatchClient:
    """HTTP client of one server's batch API."""

    def __init__(
        self,
        spec: ServerSpec,
        session: aiohttp.ClientSession,
        secrets: Secrets,
        *,
        base_delay: float,
        patience: float,
    ) -> None:
        """Store the configuration.

        Args:
            spec: The server.
            session: HTTP session that sends the key.
            secrets: Secrets to redact in responses.
            base_delay: Wait before the first retry in s; doubled for each further one.
            patience: Longest time of retries in s.
        """
        self._spec = spec
        self.place = spec.place
        self._session = session
        self.secrets = secrets
        self._base_delay = base_delay
        self._patience = patience
        self._rng = random.Random()

    async def get(self, path: str) -> dict[str, Any]:
        """Get a JSON object.

        Raises:
            GoneError: If the path does not exist.
            ModelError: If the server refuses, or cannot be reached for too long.
        """
        return json_object(await self._send("GET", path, lambda: {}), f"the response to {path}")

    async def post(
        self, path: str, data: Callable[[], dict[str, Any]], *, once: bool = False
    ) -> dict[str, Any]:
        """Post a request; returns the JSON object of the answer.

        Args:
            path: Path below the server's address.
            data: Builds the arguments of the request, for each try.
            once: Whether to retry only if the request certainly did not arrive.

        Raises:
            TooLargeError: If it is too large.
            UncertainError: With ``once``, if it is unknown whether it arrived.
            ModelError: If the server refuses, or cannot be reached for too long.
        """
        return json_object(
            await self._send("POST", path, data, once=once), f"the response to {path}"
        )

    async def lines(self, path: str) -> AsyncIterator[bytes]:
        """Stream a file line by line; when the connection breaks, lines already read are skipped.

        Raises:
            ModelError: If the server refuses, or cannot be reached for too long.
        """
        started, tries = monotonic(), 0
        known: set[bytes] = set()
        while True:
            before = frozenset(known)  # duplicates within one download are kept
            try:
                async with self._session.get(self._url(path), allow_redirects=False) as response:
                    if response.status == 200:
                        async for line in _lines(response):
                            if (digest := sha256(line).digest()) not in before:
                                known.add(digest)
                                yield line
                        return
                    body = self.secrets.redacted_bytes(await body_of(response) or b"")
                    error = self._classify_error(response, body, path)
            except (aiohttp.ClientError, TimeoutError) as broken:
                error = self._connection_failure(broken)
            tries += 1
            await self._pause(tries, started, error)

    async def _send(
        self,
        method: str,
        path: str,
        data: Callable[[], dict[str, Any]],
        *,
        once: bool = False,
    ) -> bytes:
        started, tries = monotonic(), 0
        while True:
            try:
                async with self._session.request(
                    method, self._url(path), allow_redirects=False, **data()
                ) as response:
                    body = self.secrets.redacted_bytes(await body_of(response) or b"")
                    if response.status == 200:
                        return body
                    error = self._classify_error(response, body, path)
                    if once and response.status in _MAY_HAVE_ARRIVED:
                        raise UncertainError(str(error))
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as away:
                error = self._connection_failure(away)
            except (aiohttp.ClientError, TimeoutError) as broken:
                error = self._connection_failure(broken)
                if once:
                    raise UncertainError(str(error)) from broken
            tries += 1
            await self._pause(tries, started, error)

    def _connection_failure(self, why: Exception) -> Failure:
        return Failure(what=self.secrets.redacted(connection_problem(why)))

    def _classify_error(self, response: aiohttp.ClientResponse, body: bytes, path: str) -> Failure:
        """Classify an error response; returns a failure that a retry may cure.

        Raises:
            TooLargeError: If the request is too large.
            GoneError: If the path of a GET request does not exist.
            ModelError: If a retry cannot succeed.
        """
        if response.status == 413:
            raise TooLargeError
        classified = failure(response.status, body, response.headers)
        if response.status == 404 and response.method == "GET":
            raise GoneError(f"{self.place}: {path}: {classified}")
        if classified.tries != UNLIMITED_TRIES:
            todo = f"; {classified.advice}" if classified.advice else ""
            raise ModelError(f"{self.place}: {path}: {classified}{todo}")
        return classified

    async def _pause(self, tries: int, started: float, why: Failure) -> None:
        if monotonic() - started > self._patience:
            raise ModelError(f"{self.place}: {why} (tries: {tries})")
        wait = backoff_delay(
            tries, self._base_delay, self._rng, requested=why.wait, longest=_MAX_WAIT
        )
        _log.warning("%s: %s; try %d in %.1f s", self.place, why, tries + 1, wait)
        await asyncio.sleep(wait)

    def _url(self, path: str) -> str:
        base, question_mark, query = fill_keys(self._spec.address).partition("?")
        more = "&" if question_mark and "?" in path else question_mark
        return f"{base.rstrip('/')}{path}{more}{query}"


async def _lines(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    incomplete = b""
    async for piece in response.content.iter_any():
        *lines, incomplete = (incomplete + piece).split(b"\n")
        for line in lines:
            if line.strip():
                yield line
        if len(incomplete) > MOST_BYTES:
            raise ModelError(
                f"a line of more than {MOST_BYTES >> 20} MiB in the results of a batch"
            )
    if incomplete.strip():
        yield incomplete


def json_object(data: bytes, where: str) -> dict[str, Any]:
    """Parse a JSON object.

    Raises:
        ModelError: If it is none; names where it comes from.
    """
    try:
        parsed = orjson.loads(data)
    except ValueError as error:
        raise ModelError(f"{where} is not JSON ({error})") from error
    if not isinstance(parsed, dict):
        raise ModelError(f"{where} is not a JSON object")
    return parsed
