"""Access to a model hub: reachability, timeouts, and errors of one sentence."""

import logging
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from bench_assets.core.schema.errors import ModelError
from bench_assets.core.text.redaction import REDACTED, replace_keys

_CONNECT_TIMEOUT = 3.0  # s, including name resolution
_REACHABILITY_SECONDS = 30.0  # s that a result is cached: one checkpoint needs several requests
_PATIENCE = 45.0  # s without a response after which no further request is sent
_READ_TIMEOUT = 10.0  # s between two bytes, as in the library's own downloads
_LONG_WAITS = ("retry-after", "ratelimit")


def first_line(error: Exception) -> str:
    """The first line of an error, or its class name.

    >>> first_line(KeyError())
    'KeyError'
    """
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def hub_errors() -> tuple[type[Exception], ...]:
    """Exceptions of huggingface_hub, including those of malformed responses, and ours."""
    malformed = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
    return (*_network_errors(), ModelError, *malformed)


def _network_errors() -> tuple[type[Exception], ...]:
    """Base classes of the hub's own error: that of its HTTP library, requests or httpx, first."""
    from huggingface_hub.errors import HfHubHTTPError

    return tuple(base for base in HfHubHTTPError.__bases__ if issubclass(base, Exception))


def find_file(location: str, name: str, revision: str | None) -> Path | None:
    """Find a file of a folder or hub id, without an error if there is none."""
    from transformers.utils import cached_file

    without_errors = {
        "_raise_exceptions_for_gated_repo": False,
        "_raise_exceptions_for_missing_entries": False,
        "_raise_exceptions_for_connection_errors": False,
    }
    file = cached_file(location, name, revision=revision, **without_errors)
    return Path(file) if file else None


@contextmanager
def hub_access() -> Generator[None]:
    """Turn connection errors of the hub into one sentence; also a decorator.

    The library retries six times, some seconds apart, however long the hub asks it to wait.

    Raises:
        ModelError: If the connection fails.
        OSError: As the library raises it, such as its error for a status of the hub.
    """
    limit_hub_waits()
    try:
        yield
    except _network_errors() as error:
        if isinstance(error, OSError):  # of a file, or with a clear message of the library
            raise
        cause = first_line(error).rstrip(".")
        raise ModelError(
            f"{_shown_endpoint()}: the connection to the model hub failed: {cause}. {_ADVICE}"
        ) from error


def _shown_endpoint() -> str:
    from huggingface_hub.constants import ENDPOINT

    return replace_keys(ENDPOINT, lambda _: REDACTED)


_ADVICE = "Run the command again, or name a folder instead of a hub id"


def limit_hub_waits() -> None:
    """Make this process give up on a hub that does not respond, without a warning per attempt."""
    from huggingface_hub import get_session

    log = logging.getLogger("huggingface_hub")
    if log.level == logging.WARNING:  # the default
        log.setLevel(logging.ERROR)
    session: Any = get_session()
    hooks = session.event_hooks
    owners = [getattr(hook, "__self__", None) for hook in hooks["request"]]
    if any(isinstance(owner, _ResponseClock) for owner in owners):
        return  # the waits are limited already
    clock = _ResponseClock()
    session.event_hooks = {
        "request": [*hooks["request"], clock.begin],
        "response": [*hooks["response"], clock.end],
    }


class _ResponseClock:
    """Hooks of an HTTP client that track for how long the hub has not responded."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock  # s
        self._since: float | None = None  # s, of the first request without a response
        self._last = clock()  # s, of the last request

    def begin(self, request: Any) -> None:  # noqa: ANN401 - of the library's client
        """Limit the timeouts of a request.

        Raises:
            ModelError: If the hub has not responded for too long.
        """
        now = self._clock()
        if self._since is None or now - self._last > _REACHABILITY_SECONDS:
            self._since = now
        if now - self._since > _PATIENCE:
            raise ModelError(
                f"{_shown_endpoint()}: the model hub has not responded for"
                f" {now - self._since:.0f} s. {_ADVICE}"
            )
        self._last = now
        timeouts = request.extensions.get("timeout") or {}
        request.extensions["timeout"] = {
            name: min(timeouts.get(name) or _READ_TIMEOUT, _READ_TIMEOUT)
            for name in ("connect", "read", "write", "pool")
        }

    def end(self, response: Any) -> None:  # noqa: ANN401 - as above
        """Drop the waits that the hub asks for; a response that is no error resets the clock."""
        for name in _LONG_WAITS:
            response.headers.pop(name, None)
        if response.status_code < 500 and response.status_code != 429:
            self._since = None


def hub_is_reachable() -> bool:
    """Whether a connection to the hub opens; always True behind a proxy."""
    from huggingface_hub.constants import ENDPOINT

    if getproxies().get(urlsplit(ENDPOINT).scheme):
        return True
    return _connects(ENDPOINT, int(monotonic() // _REACHABILITY_SECONDS))


@lru_cache(maxsize=1)
def _connects(endpoint: str, _period: int) -> bool:
    """Whether a connection opens in time; the thread also limits the wait for a name server."""
    connections: list[bool] = []

    def connect() -> None:
        hub = urlsplit(endpoint)
        try:
            address = (hub.hostname or "", hub.port or {"http": 80, "https": 443}[hub.scheme])
            socket.create_connection(address, _CONNECT_TIMEOUT).close()
        except (OSError, ValueError, LookupError):
            return
        connections.append(True)

    thread = Thread(target=connect, daemon=True)
    thread.start()
    thread.join(_CONNECT_TIMEOUT)
    return bool(connections)
