"""Announcements of servers without a database: several homes of one process."""

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from threading import RLock

from bench_assets.core.schema.errors import HomeError


class Wall:
    """What all homes see."""

    def __init__(self) -> None:
        self.said: dict[str, dict[str, list[str]]] = {}  # served -> owner -> addresses
        self.is_away = False
        self.lets_start = True
        self.starts = RLock()
        self._n = 0

    def board(self, served: str = "w") -> "WallBoard":
        self._n += 1
        return WallBoard(self, served, str(self._n))


class WallBoard:
    """A home's view of it."""

    def __init__(self, wall: Wall, served: str, owner: str) -> None:
        self._wall = wall
        self._served = served
        self._owner = owner

    def say(self, addresses: Collection[str], patience: float = 0.0) -> None:
        self._there(patience)[self._owner] = list(addresses)

    def others(self, patience: float = 0.0) -> list[str]:
        there = self._there(patience)
        return sorted(one for owner in there if owner != self._owner for one in there[owner])

    @contextmanager
    def starting(self, waits: Callable[[str], object]) -> Generator[None]:
        if not self._wall.lets_start:
            raise HomeError("the wall is away")
        if not self._wall.starts.acquire(blocking=False):
            waits("servers for w: waiting for another")
            self._wall.starts.acquire()
        try:
            yield
        finally:
            self._wall.starts.release()

    def _there(self, patience: float) -> dict[str, list[str]]:
        assert patience >= 0
        if self._wall.is_away:
            raise HomeError("the wall is away")
        return self._wall.said.setdefault(self._served, {})
