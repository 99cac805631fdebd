"""Allowed hosts: addresses from data files may only lead to the public internet.

A name is resolved once, and the connection uses the checked address, without a second lookup (DNS
rebinding). Redirects are checked in the same way.
"""

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

IPAddress: TypeAlias = IPv4Address | IPv6Address

_UNICAST = IPv6Network("2000::/3")  # all public hosts; no IPv4-mapped or NAT64 addresses
_TUNNELS = (IPv6Network("2002::/16"), IPv6Network("2001::/32"))  # 6to4, Teredo: embed IPv4
_SERVICES = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"))  # for protocols
_SCHEMES = ("http", "https")
_MOST_REDIRECTS = 10
_REDIRECTS = (301, 302, 303, 307, 308)


class ForbiddenAddressError(ValueError):
    """An address from a file leads outside of the public internet."""


def is_public(address: IPAddress) -> bool:
    """Whether an IP address is a unicast address of the public internet.

    >>> [is_public(ip_address(one)) for one in ("8.8.8.8", "10.0.0.1", "::ffff:8.8.8.8")]
    [True, False, False]
    """
    if address.version == 6 and address not in _UNICAST:
        return False
    if any(address in network for network in (*_TUNNELS, *_SERVICES)):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


HostPolicy: TypeAlias = Callable[[IPAddress], bool]
"""Whether an address may be contacted."""


def _parse_address(address: "str | URL", allowed: HostPolicy) -> "URL":
    """Parse an address, and check its host if that is an IP address.

    Raises:
        ForbiddenAddressError: If it is not a URL, or a forbidden address.
    """
    from yarl import URL

    try:
        url = URL(address)
    except ValueError as error:
        raise ForbiddenAddressError(f"not a URL: {error}") from error
    if url.scheme not in _SCHEMES or not url.host:
        raise ForbiddenAddressError("not a URL that begins with http:// or https://")
    if ":" in url.host or url.host.replace(".", "").isdigit():
        _require(url.host, url.host, allowed)
    return url


def _require(number: str, host: str, allowed: HostPolicy) -> None:
    """Check the resolved address of a host.

    Raises:
        ForbiddenAddressError: If it is forbidden, or not an IP address.
    """
    try:
        address = ip_address(number.partition("%")[0])
    except ValueError as error:
        raise ForbiddenAddressError(f"{host!r} is not a host") from error
    if not allowed(address):
        raise ForbiddenAddressError(
            f"{host} leads to {number}, which is not on the public internet"
        )


@asynccontextmanager
async def open_url(
    session: "aiohttp.ClientSession", address: str, allowed: HostPolicy
) -> AsyncIterator["aiohttp.ClientResponse"]:
    """Send a GET request and follow its redirects.

    Raises:
        ForbiddenAddressError: If a host is forbidden, there are too many redirects, or one of them
            drops encryption.
        aiohttp.ClientError: If the request fails.
    """
    url = _parse_address(address, allowed)
    for _ in range(_MOST_REDIRECTS + 1):
        async with session.get(url, allow_redirects=False) as response:
            target = response.headers.get("Location")
            if response.status not in _REDIRECTS or target is None:
                yield response
                return
        before, url = url, _parse_address(_resolve_redirect(url, target), allowed)
        if before.scheme == "https" and url.scheme != "https":
            raise ForbiddenAddressError(f"is redirected to {url.scheme}, without encryption")
    raise ForbiddenAddressError(f"is redirected more than {_MOST_REDIRECTS} times")


def _resolve_redirect(url: "URL", target: str) -> "URL":
    from yarl import URL

    try:
        return url.join(URL(target))
    except ValueError as error:
        raise ForbiddenAddressError(f"is redirected to an invalid URL: {error}") from error


def restricted_connector(
    allowed: HostPolicy, *, limit: int = 100, limit_per_host: int = 0
) -> "aiohttp.TCPConnector":
    """A connector that only reaches allowed hosts; create it in a running event loop."""
    from aiohttp import TCPConnector, ThreadedResolver
    from aiohttp.abc import AbstractResolver, ResolveResult

    class AllowedHosts(AbstractResolver):
        def __init__(self) -> None:
            self._resolver = ThreadedResolver()

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            addresses = await self._resolver.resolve(host, port, family)
            for address in addresses:
                _require(address["host"], host, allowed)
            return addresses

        async def close(self) -> None:
            await self._resolver.close()

    return TCPConnector(limit=limit, limit_per_host=limit_per_host, resolver=AllowedHosts())
