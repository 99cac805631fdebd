"""Homes of one process that ask one another's servers."""

import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from threading import Event
from typing import Any

from bench_assets.core.schema.errors import ModelError
from resources.models.managed.process import ReadinessProbe, StartedServer
from resources.models.managed.replicas import ServerReplicas
from resources.models.managed.service_discovery import AnnouncedServers
from resources.models.managed.shared_replicas import SharedReplicas
from tests.resources.models.api.boards import Wall

ASKED = ReadinessProbe(health="/health", model="m", path="w", within=1)


class Pretended(StartedServer):
    """One that runs until it is ended; no process."""

    def __init__(self, port: int, why_not: str = "", comes: Event | None = None) -> None:
        self.port = port
        self._why_not = why_not
        self._comes = comes
        self._ended = Event()

    def wait_until_ready(self, asked: ReadinessProbe, enough: Event) -> None:
        while self._comes and not self._comes.wait(0.01):
            if enough.is_set():
                raise ModelError("the server was not waited for")
        if self._why_not:
            raise ModelError(self._why_not)

    def wait(self) -> str:
        self._ended.wait()
        return "ended"

    def let_go(self) -> None:
        self._ended.set()

    def end(self) -> None:
        self._ended.set()


class Reachable(AnnouncedServers):
    """All but some are asked."""

    def __init__(self, but: set[str]) -> None:
        super().__init__(ASKED)
        self._but = but

    def those_of(self, addresses: Iterable[str]) -> list[str]:
        return [one for one in addresses if one not in self._but]


class Team:
    """Homes that see one wall."""

    def __init__(self) -> None:
        self.wall = Wall()
        self.starts: list[int] = []
        self.unreachable: set[str] = set()
        self.overwritten: set[int] = set()
        self.homes: list[SharedReplicas] = []

    def home(self, port: int, **how: Any) -> SharedReplicas:
        """One whose server is at a port."""

        def start(_: int) -> StartedServer:
            self.starts.append(port)
            return Pretended(port, **how)

        def refuse_overwritten() -> None:
            if port in self.overwritten:
                raise ModelError("overwritten")

        own = ServerReplicas(start, ASKED, steady=nullcontext, n=1, most_starts=1)
        home = SharedReplicas(
            own,
            self.wall.board(),
            Reachable(self.unreachable),
            reached_as="node-a",
            refuse_overwritten=refuse_overwritten,
            look=0.02,
        )
        self.homes.append(home)
        return home


def until(met: Callable[[], bool]) -> None:
    given_up = time.monotonic() + 30
    while not met():
        assert time.monotonic() < given_up
        time.sleep(0.01)


def ends(home: SharedReplicas, why: str) -> bool:
    """Whether the asking ends, for a reason."""
    try:
        home.addresses()
    except ModelError as told:
        return why in str(told)
    return False


def asks(home: SharedReplicas, *addresses: str) -> None:
    """Wait until a home asks exactly there."""
    until(lambda: home.addresses() == list(addresses))
