"""Retries with backoff: which failures are retried, and after how long.

Servers announce the wait of a rate limit in a header or a message; any other wait grows
exponentially, with jitter.
"""

import asyncio
import logging
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from math import isfinite
from time import monotonic

from bench_assets.core.schema.chat import REQUEST_REFUSED, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.servers import ServerSpec

_TRANSIENT_STATUSES = {408, 409, 425, 429}
_DOUBLINGS = 30  # doublings of a delay at most, so that it does not overflow
_LONGEST_HINT = 30.0  # s, maximum wait for the reset of a quota: one request may succeed earlier
_EPOCH_THRESHOLD = 1e9  # s; a larger number is not a duration but a time, after 2001
_WAIT_IN_BODY = (
    # Groups: amount, and unit.
    re.compile(r'"retryDelay": *"([\d.]+s)"()'),
    re.compile(
        r"(?:(?:try again|retry) (?:in|after)|wait(?: in| after| for)?)"
        r" (\d+(?:\.\d+)?(?:[hms]+[\dhms]*(?:\.\d+s)?)?)(?: (ms|millis|min|hour|day))?",
        re.IGNORECASE,
    ),
)
_NUMBER = r"(\d+(?:\.\d+)?)"
_DURATION = re.compile(
    rf"\s*(?:{_NUMBER}|(?:{_NUMBER}h)?(?:{_NUMBER}m)?(?:{_NUMBER}s)?(?:{_NUMBER}ms)?)\s*", re.ASCII
)
_UNITS = {"ms": 1e-3, "millis": 1e-3, "min": 60.0, "hour": 3600.0, "day": 86400.0}  # s


def is_transient_status(status: int) -> bool:
    """Whether a retry may succeed, by HTTP status.

    >>> [status for status in (400, 404, 429, 500, 501, 503, 529) if is_transient_status(status)]
    [429, 500, 503, 529]
    """
    return status in _TRANSIENT_STATUSES or (status >= 500 and status != 501)


def wait_of(headers: Mapping[str, str], body: str = "") -> float:
    """Seconds that a server asks us to wait; 0.0 if it does not say.

    Reads the headers retry-after-ms and Retry-After, Google's RetryInfo, messages such as "try
    again in 1m2.5s", and x-ratelimit-reset (at most 30 s, because it restores the whole quota).
    """
    fields = {name.lower(): value for name, value in headers.items()}
    if milliseconds := parse_duration(fields.get("retry-after-ms", "")):
        return milliseconds / 1e3
    if wait := parse_retry_after(fields.get("retry-after", "")):
        return wait
    for pattern in _WAIT_IN_BODY:
        if match := pattern.search(body):
            amount, unit = match.groups("")
            return parse_duration(amount.lower()) * _UNITS.get(unit.lower(), 1.0)
    if match := re.search(r'"x-ratelimit-reset": *"?(\d+)', body, re.IGNORECASE):
        fields.setdefault("x-ratelimit-reset", match[1])
    return min(_quota_wait(fields), _LONGEST_HINT)


def parse_retry_after(header: str) -> float:
    """Parse a Retry-After header, seconds or a date, as s from now; 0.0 if invalid.

    >>> [*map(parse_retry_after, ["1.5", "Wed, 21 Oct 2015 07:28:00 GMT", "soon"])]
    [1.5, 0.0, 0.0]
    """
    if wait := parse_duration(header):
        return wait
    try:
        date = parsedate_tz(header)
        return max(mktime_tz(date) - time.time(), 0.0) if date else 0.0
    except (ValueError, OverflowError):  # a year that no calendar has
        return 0.0


def parse_duration(text: str) -> float:
    """Parse a duration as s; 0.0 if invalid or out of range.

    >>> [*map(parse_duration, ["6m0s", "1h2m3.5s", "20ms", "7", "soon"])]
    [360.0, 3723.5, 0.02, 7.0, 0.0]
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        return 0.0
    number, hours, minutes, seconds, milliseconds = map(float, match.groups("0"))
    length = number + 3600 * hours + 60 * minutes + seconds + milliseconds / 1e3
    return length if isfinite(length) else 0.0


def _quota_wait(headers: Mapping[str, str]) -> float:
    """The longest wait for an exhausted quota; if none is exhausted, the shortest of all."""
    waits, exhausted_waits = [], []
    for name, value in headers.items():
        if name.startswith("x-ratelimit-reset"):
            waits.append(_parse_reset(value))
            if headers.get(name.replace("reset", "remaining")) == "0":
                exhausted_waits.append(waits[-1])
    return max(exhausted_waits) if exhausted_waits else min(waits, default=0.0)


def _parse_reset(reset: str) -> float:
    """Parse a duration, or a time as s or ms since 1970, as s from now."""
    length = parse_duration(reset)
    if length < _EPOCH_THRESHOLD:
        return length
    is_in_ms = length > _EPOCH_THRESHOLD * 100  # as s, it would be after the year 5000
    reset_time = length / 1e3 if is_in_ms else length
    return max(reset_time - time.time(), 0.0)


_log = logging.getLogger("bench_assets.server")
UNLIMITED_TRIES = 1_000_000  # tries of a failure that only the settings of the model limit
_POLL = 5.0  # s, longest pause before a retry while the server loads its model
_PROBE_TRIES = 2  # tries of a probe, which may make the server fail
_MOST_MISCONFIGURED = 10  # refusals in a row that end all requests, such as of an expired key
_MIN_GIVEN_UP = 8  # requests in a row, at least, that are given up before the server counts as gone


UNKNOWN_FIELD = "list the field in omit, or set server to its software, in the section of the model"
"""``Failure.advice`` if the server does not know a field of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed attempt at a request."""

    what: str  # "HTTP 503"
    detail: str = ""  # the server's message
    tries: int = 1  # attempts in all that make sense; 1 if the same request can only fail again
    wait: float = 0.0  # s that the server asks to wait
    unreachable: bool = False  # no connection, or a gateway reports none to its backend
    refused: bool = False  # the configuration is wrong: key, model name or address
    advice: str = ""  # what to do about a refusal
    loading: bool = False  # the server runs, and still loads its model
    refusal: str = ""  # kind of a permanent refusal; of "request refused", if it comes twice
    stalled: bool = False  # this process was suspended meanwhile: the attempt does not count

    @property
    def is_overload(self) -> bool:
        """Whether the server was reached, and a retry may succeed."""
        return self.tries == UNLIMITED_TRIES and not (self.unreachable or self.loading)

    def __str__(self) -> str:
        """The error, and the server's message."""
        return f"{self.what}: {self.detail}" if self.detail else self.what


class RetryPolicy:
    """Retries requests to one server, and notices when the server is gone.

    A retry waits with exponential backoff and jitter, at least as long as Retry-After says, and is
    bounded in number and time; while a model loads, in time only. The server counts as gone when a
    request is given up and nothing came back meanwhile, either because no connection was made, or
    after a whole round of such requests.
    """

    def __init__(
        self, spec: ServerSpec, base_delay: float, rng: random.Random, *, probes: bool = False
    ) -> None:
        """Store the limits; ``probes``: the requests try fields that the server may not know."""
        self._spec = spec
        self._probes = probes
        self._where = spec.place
        self._base_delay = base_delay
        self._rng = rng
        self._answered_at = -1.0  # s on the monotonic clock; below 0: never
        self._n_given_up = 0  # requests since the last response
        self._n_misconfigured = 0  # the same, because of the configuration
        self._gone = asyncio.Event()
        self._gone_reason = ""

    async def retry(self, attempt: Callable[[], Awaitable[Response | Failure]]) -> Response:
        """Retry until a response arrives; at the limits, return one with ``error``.

        Raises:
            ModelError: If the configuration is wrong for the first request or for ten in a row, or
                the server is gone before it answered any.
        """
        started, n_tries, n_refused = monotonic(), 0, 0
        while not self._gone.is_set():
            outcome = await attempt()
            n_tries += 1
            if isinstance(outcome, Response):
                self._answered_at, self._n_given_up, self._n_misconfigured = monotonic(), 0, 0
                return outcome
            if outcome.stalled:
                started, n_tries = monotonic(), 0
            max_tries, is_doubtful = outcome.tries, False
            if outcome.refusal == REQUEST_REFUSED:  # other failures do not count as tries
                n_refused += 1
                max_tries += n_tries - n_refused
                is_doubtful = n_refused < outcome.tries
            max_tries = min(max_tries, self._max_tries(outcome))
            wait = self._wait(outcome, n_tries)
            if n_tries >= max_tries or monotonic() + wait > started + self._spec.max_wait:
                return self._give_up(outcome, n_tries, started, is_doubtful=is_doubtful)
            where = f"{self._spec.model} at {self._where}"
            next_try = f"try {n_tries + 1}/{max_tries} in {wait:.2f} s"
            _log.warning("%s: %s; %s", where, outcome.what, next_try)
            await self._pause(wait)
        return Response(error=self._gone_reason)

    def _max_tries(self, failure: Failure) -> int:
        """Maximum number of tries: unlimited while a model loads, two for a probe."""
        if failure.loading:
            return UNLIMITED_TRIES
        if self._probes and failure.what != "HTTP 429":  # a rate limit comes before any reading
            return min(self._spec.max_tries, _PROBE_TRIES)
        return self._spec.max_tries

    def _wait(self, failure: Failure, n_tries: int) -> float:
        """Seconds before the next try: exponential with jitter, or what the server asks for."""
        if failure.wait:
            return failure.wait + self._base_delay * self._rng.random()
        delay = self._base_delay * 2.0 ** min(n_tries - 1, _DOUBLINGS)
        if failure.loading:
            delay = min(delay, _POLL)
        return delay * (0.5 + self._rng.random())

    async def _pause(self, seconds: float) -> None:
        """Wait, but no longer than until the server is gone."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._gone.wait(), seconds)

    def _give_up(
        self, failure: Failure, n_tries: int, started: float, *, is_doubtful: bool
    ) -> Response:
        """Count a last failure and make a response of it; if no other can succeed, end them all."""
        if failure.refused:
            self._n_misconfigured += 1
        is_unknown_probe = self._probes and failure.advice == UNKNOWN_FIELD
        is_permanent = self._answered_at < 0 or self._n_misconfigured >= _MOST_MISCONFIGURED
        if failure.refused and is_permanent and not is_unknown_probe:
            advice = f"; {failure.advice}" if failure.advice else ""
            self._end_requests(f"{self._where}: {failure}{advice}")
            raise ModelError(self._gone_reason)
        if failure.tries == 1 or failure.refusal:
            self._n_given_up = 0  # the server is up: it has read the request
            return Response(error=str(failure), refused="" if is_doubtful else failure.refusal)
        self._n_given_up += 1
        if self._answered_at < started and self._n_given_up >= self._patience(failure):
            self._end_requests(f"{self._where} cannot be reached any more: {failure}")
            if self._answered_at < 0:
                raise ModelError(f"{self._where}: cannot be reached: {failure}")
        return Response(error=f"{failure} (tries: {n_tries})")

    def _end_requests(self, reason: str) -> None:
        self._gone_reason = reason
        self._gone.set()

    def _patience(self, failure: Failure) -> int:
        """Number of requests in a row that are given up before the server counts as gone."""
        return 1 if failure.unreachable else max(_MIN_GIVEN_UP, self._spec.initial_concurrency)
