"""Bounded requests by httpx: health checks, model lists and image servers."""

import re
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from urllib.parse import urljoin

_MOST_BYTES = 1 << 20  # of a page of a local service
_NUMBER = re.compile(r"\[Errno -?\d+\] ")


def send_bounded(
    url: str,
    *,
    timeout: float,
    most: int,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    is_local: bool = False,
) -> tuple[int, bytes]:
    """Send a GET request, or with a body a POST; returns the status and the body.

    Redirects are not followed.

    Args:
        url: The address.
        timeout: Time until the last byte of the response in s.
        most: Maximum size of the response in bytes.
        body: Body of the request.
        headers: Headers of the request.
        is_local: Whether to ignore proxies and certificates.

    Raises:
        OSError: If there is no response, or not all of it in time (``TimeoutError``).
        ValueError: If it is not a URL, or the response is larger.
    """
    import httpx

    deadline = time.monotonic() + timeout
    client = httpx.Client(timeout=timeout, verify=not is_local, trust_env=not is_local)
    verb = "POST" if body else "GET"
    with (
        _plain_errors(timeout),
        client,
        client.stream(verb, url, content=body, headers=headers) as response,
    ):
        received = bytearray()
        for part in response.iter_bytes():
            received += part
            if len(received) > most:
                raise ValueError(f"the response has more than {most} bytes")
            if time.monotonic() > deadline:
                raise httpx.ReadTimeout("")
        return response.status_code, bytes(received)


@contextmanager
def _plain_errors(timeout: float) -> Generator[None]:
    """Raise errors of httpx as errors of Python."""
    import httpx

    try:
        yield
    except httpx.TimeoutException as error:
        raise TimeoutError(f"no whole response within {timeout:g} s") from error
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise ValueError(f"not an address such as http://127.0.0.1:8000/v1 ({error})") from error
    except httpx.HTTPError as error:
        raise OSError(connection_problem(error)) from error


def connection_problem(error: Exception) -> str:
    """Reason of a connection error of any HTTP library.

    >>> connection_problem(ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 9)"))
    'Connection refused: no server is listening'
    """
    from aiohttp import ClientProxyConnectionError

    text = _NUMBER.sub("", str(error)) or type(error).__name__
    cause = getattr(error, "os_error", error)  # of aiohttp's errors
    if isinstance(cause, ConnectionRefusedError) or text == "Connection refused":  # httpx's
        text = "Connection refused: no server is listening"
    if isinstance(error, ClientProxyConnectionError):
        return f"{text} (proxy {error.host}:{error.port})"
    return text


def fetch_page(address: str, path: str, *, timeout: float) -> tuple[int, bytes]:
    """Get the status and the body of a local page; (0, reason) if the service is unreachable."""
    url = urljoin(address, path)
    try:
        return send_bounded(url, timeout=timeout, most=_MOST_BYTES, is_local=True)
    except (OSError, ValueError) as error:
        return 0, str(error).encode()
