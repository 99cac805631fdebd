"""Where a Label Studio may be, and how it knows us: both kinds of token, over wires none reads."""

import ipaddress
import re
from collections.abc import Generator
from urllib.parse import urlsplit

import httpx

from bench_assets.core.errors import SettingsError

_JWT = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)


def checked_address(url: str) -> str:
    """Check where the server is; without a slash at the end.

    Raises:
        SettingsError: If it is neither on this machine nor behind https, or no address.

    >>> checked_address("http://127.0.0.1:8081/")
    'http://127.0.0.1:8081'
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    if not host or parts.username or parts.query or parts.fragment:
        raise SettingsError(
            "url should be the address of a Label Studio, such as http://127.0.0.1:8081, and"
            " nothing more: the token has a variable of its own, which token_env names"
        )
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise SettingsError(
            f"url: {parts.scheme}://{host} would carry the token and all answers where others can"
            " read them: https is needed, or an address of this machine such as 127.0.0.1"
        )
    return url.rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself.

    >>> is_loopback("127.0.0.1"), is_loopback("127.0.0.1.example.org"), is_loopback("0.0.0.0")
    (True, False, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def authorization(url: str, token: str) -> httpx.Auth:
    """Choose how to show a token: which kind it is is seen by its shape."""
    return _Refreshed(url, token) if _JWT.fullmatch(token) else _Legacy(token)


class _Legacy(httpx.Auth):
    """Forty characters that are sent as they are, and do not expire."""

    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Token {self._token}"
        yield request


class _Refreshed(httpx.Auth):
    """A personal access token: it gets others, which live five minutes."""

    requires_response_body = True

    def __init__(self, url: str, token: str) -> None:
        self._url = f"{url}/api/token/refresh"
        self._token = token
        self._access = ""

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if self._access:
            response = yield self._shown(request)
            if response.status_code != 401:
                return
        refreshed = yield httpx.Request("POST", self._url, json={"refresh": self._token})
        self._access = _access(refreshed)
        yield self._shown(request)  # refused, if there is none

    def _shown(self, request: httpx.Request) -> httpx.Request:
        request.headers["Authorization"] = f"Bearer {self._access or None}"
        return request


def _access(refreshed: httpx.Response) -> str:
    """The token that another was changed for; "" if it was not."""
    try:
        told = refreshed.json() if refreshed.status_code == 200 else {}
    except ValueError:
        return ""
    access = told.get("access") if isinstance(told, dict) else None
    return access if isinstance(access, str) and _JWT.fullmatch(access) else ""
