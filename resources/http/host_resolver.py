"""DNS resolver that admits only allowed hosts."""

import socket

from aiohttp import TCPConnector, ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from resources.http.allowed_hosts import HostPolicy


def restricted_connector(
    hosts: HostPolicy, *, limit: int = 100, limit_per_host: int = 0
) -> TCPConnector:
    """A connector that only reaches allowed hosts; to be made in a running loop."""
    return TCPConnector(
        limit=limit, limit_per_host=limit_per_host, resolver=_AllowedHostResolver(hosts)
    )


class _AllowedHostResolver(AbstractResolver):
    """Resolves names to allowed addresses only."""

    def __init__(self, hosts: HostPolicy) -> None:
        self._hosts = hosts
        self._resolver = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        if (host, port) not in self._hosts.typed:
            for one in found:
                self._hosts.require(one["host"], host)
        return found

    async def close(self) -> None:
        await self._resolver.close()
