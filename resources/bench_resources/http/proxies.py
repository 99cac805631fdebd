"""The proxy that the environment sets for an address."""

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass


def proxy_of(address: str) -> str | None:
    """Proxy for an address, from http_proxy, https_proxy and no_proxy; None for none.

    aiohttp's ``trust_env`` would also send passwords of ~/.netrc.
    """
    parts = urlsplit(address)
    return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
