"""Access to a model hub: whether it can be reached, and its failures in one sentence."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from threading import Thread
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from bench_assets.core.schema.errors import ModelError
from bench_assets.core.text.redaction import without_keys

_CONNECT_TIMEOUT = 3.0  # s, with the look-up of its name
_SAME_ANSWER = 30.0  # s; one checkpoint asks several times
_LONG_WAITS = ("retry-after", "ratelimit")


def first_line(why: Exception) -> str:
    """The first line of an error, or its class name.

    >>> first_line(KeyError())
    'KeyError'
    """
    return (str(why).strip().splitlines() or [type(why).__name__])[0]


def hub_errors() -> tuple[type[Exception], ...]:
    """Exceptions of huggingface_hub, including those of malformed responses."""
    return (*_network_errors(), ValueError, TypeError, LookupError, AttributeError, RecursionError)


def _network_errors() -> tuple[type[Exception], ...]:
    from huggingface_hub.errors import HfHubHTTPError

    return tuple(base for base in HfHubHTTPError.__bases__ if issubclass(base, Exception))


@contextmanager
def hub_access() -> Generator[None]:
    """Use the hub, also as a decorator; a broken connection is one sentence.

    The library retries some seconds apart, six times, however long the hub asks it to wait.

    Raises:
        ModelError: If the hub or the network fails.
    """
    from huggingface_hub import get_session
    from huggingface_hub.constants import ENDPOINT

    session: Any = get_session()
    hooks = session.event_hooks
    if _forget_long_waits not in hooks["response"]:
        session.event_hooks = {**hooks, "response": [*hooks["response"], _forget_long_waits]}
    try:
        yield
    except _network_errors() as why:
        if isinstance(why, OSError):  # of a file, or told well by the library
            raise
        said = first_line(why).rstrip(".")
        raise ModelError(
            f"{without_keys(ENDPOINT)}: the model hub broke off: {said}. Run the command again, or"
            " name a folder instead of a hub id"
        ) from why


def _forget_long_waits(response: Any) -> None:  # noqa: ANN401 - of the client of the library
    for name in _LONG_WAITS:
        response.headers.pop(name, None)


def hub_is_reachable() -> bool:
    """Whether a connection to the hub opens; True where a proxy stands between."""
    from huggingface_hub.constants import ENDPOINT

    if getproxies().get(urlsplit(ENDPOINT).scheme):
        return True
    return _connects(ENDPOINT, int(monotonic() // _SAME_ANSWER))


@lru_cache(maxsize=1)
def _connects(endpoint: str, _: int) -> bool:
    """Whether it does within the time, in which a dead name server may not answer either."""
    opened: list[bool] = []

    def connect() -> None:
        hub = urlsplit(endpoint)
        try:
            place = (hub.hostname or "", hub.port or {"http": 80, "https": 443}[hub.scheme])
            socket.create_connection(place, _CONNECT_TIMEOUT).close()
        except (OSError, ValueError, LookupError):
            return
        opened.append(True)

    tried = Thread(target=connect, daemon=True)
    tried.start()
    tried.join(_CONNECT_TIMEOUT)
    return bool(opened)
