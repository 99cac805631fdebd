"""Bounded requests to local services: health checks and model lists."""

import re
import time
from urllib.parse import urljoin

_MOST_BYTES = 1 << 20  # bytes of a page of a local service, at most
_ERRNO = re.compile(r"\[Errno -?\d+\] ")


def fetch_page(address: str, path: str, *, timeout: float) -> tuple[int, bytes]:
    """Get the status and the body of a local page; (0, reason) if it does not arrive whole.

    Redirects are not followed; proxies and certificates are ignored. ``timeout`` is the time in s
    until the last byte of the response.
    """
    import httpx

    try:
        return _get(urljoin(address, path), timeout)
    except httpx.TimeoutException:
        reason = f"no whole response within {timeout:g} s"
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        reason = f"not an address such as http://127.0.0.1:8000/v1 ({error})"
    except httpx.HTTPError as error:
        reason = connection_problem(error)
    except (OSError, ValueError) as error:
        reason = str(error)
    return 0, reason.encode()


def _get(url: str, timeout: float) -> tuple[int, bytes]:
    import httpx

    deadline = time.monotonic() + timeout
    client = httpx.Client(timeout=timeout, verify=False, trust_env=False)
    with client, client.stream("GET", url) as response:
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > _MOST_BYTES:
                raise ValueError(f"the response has more than {_MOST_BYTES} bytes")
            if time.monotonic() > deadline:
                raise httpx.ReadTimeout("")
        return response.status_code, bytes(body)


def connection_problem(error: Exception) -> str:
    """Reason of a connection error of any HTTP library.

    >>> connection_problem(ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 9)"))
    'Connection refused: no server is listening'
    """
    from aiohttp import ClientProxyConnectionError

    text = _ERRNO.sub("", str(error)) or type(error).__name__
    cause = getattr(error, "os_error", error)  # of aiohttp's errors
    if isinstance(cause, ConnectionRefusedError) or text == "Connection refused":  # httpx's
        text = "Connection refused: no server is listening"
    if isinstance(error, ClientProxyConnectionError):
        return f"{text} (proxy {error.host}:{error.port})"
    return text
