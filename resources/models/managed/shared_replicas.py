"""Replicas shared by all homes of a database.

A home that finds no announced server starts and announces its own, one home at a time. When the
last announced server vanishes, it starts its own.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread
from urllib.parse import urlsplit

from bench_assets.core.schema.errors import BenchError, HomeError, ModelError
from resources.models.managed.replicas import ServerReplicas
from resources.models.managed.service_discovery import AnnouncedServers, Board
from resources.storage.sqlite import PATIENCE

_log = logging.getLogger("bench_assets.server")
_LOOK = 1.0  # s between two looks at what is announced
_AT_THE_END = 5.0  # s that a database may be away when ours are taken back
_READY = 0.1  # s between two looks at our own that start


class SharedReplicas:
    """``ServerReplicas`` that are started only if no other home's server is reachable.

    A thread polls the announcements from the first request until ``close``.
    """

    def __init__(
        self,
        own: ServerReplicas,
        board: Board,
        announced: AnnouncedServers,
        *,
        reached_as: str,
        refuse_overwritten: Callable[[], object],
        look: float = _LOOK,
    ) -> None:
        """Store the configuration; nothing is started yet.

        Args:
            own: Our servers, started if there are no others.
            board: Announcements of servers for these weights.
            announced: Probes the servers of others.
            reached_as: Host name under which other machines reach ours.
            refuse_overwritten: Raises ModelError if our weights may have changed.
            look: Time between two polls of the announcements in s.
        """
        self._own = own
        self._board = board
        self._announced = announced
        self._reached_as = reached_as
        self._refuse_overwritten = refuse_overwritten
        self._between = look
        self._one_look, self._one_start = Lock(), Lock()
        self._others: list[str] = []
        self._own_failed = ""
        self._is_refused = False
        self._starter: Thread | None = None
        self._watcher: Thread | None = None
        self._over = Event()

    def wait_for_one(self) -> None:
        """Wait until a server of another home or of ours is ready."""
        self._own_failed = ""
        if not self._watcher:
            self._look(self._over, PATIENCE)
            self._watcher = Thread(
                target=self._watch, args=[self._over], name="announcements", daemon=True
            )
            self._watcher.start()
        if not (self._others or self._own.ready):
            self._start(self._over)

    def addresses(self) -> list[str]:
        """Addresses of all ready servers; with none, starts our own and returns at once."""
        if there := [*self._own.ready, *self._others]:
            return there
        if self._own_failed:
            raise ModelError(self._own_failed)
        if not (self._starter and self._starter.is_alive()):
            if self._own.is_started:
                return self._own.addresses()  # says if none of them is left
            self._starter = Thread(
                target=self._start_later, args=[self._over], name="own servers", daemon=True
            )
            self._starter.start()
        return []

    def close(self) -> None:
        """Withdraw our announcements and stop our servers; they can be started again."""
        with self._one_start:
            self._over.set()
        with self._one_look, suppress(HomeError):  # else it ends by itself in a moment
            self._board.say([], _AT_THE_END)
        self._own.close()
        self._watcher = self._starter = None
        self._others, self._own_failed, self._is_refused = [], "", False
        self._over = Event()

    def _start(self, over: Event) -> None:
        """Start our servers, unless others appeared while we waited for the lock."""
        with self._board.starting(lambda why: _log.warning("%s", why)):
            self._look(over, PATIENCE)
            with self._one_start:  # nothing is started behind the back of who closes
                if self._others or over.is_set():
                    return
                self._own.start()
            while not (self._own.addresses() or over.wait(_READY)):
                pass  # they are being started; if none of them is left, it is said
            self._look(over, PATIENCE)  # announces them, before others are let

    def _start_later(self, over: Event) -> None:
        try:
            self._start(over)
        except BenchError as why:
            if not over.is_set():
                self._own_failed = str(why)

    def _watch(self, over: Event) -> None:
        is_away = False
        while not over.wait(self._between):
            try:
                self._look(over)
                is_away = False
            except HomeError as why:  # what was known last still is
                if not is_away:
                    _log.warning("%s", why)
                is_away = True

    def _look(self, over: Event, patience: float = 0.0) -> None:
        """Announce our servers and list those of others."""
        with self._one_look:
            if over.is_set():
                return
            self._board.say(self._ours(), patience)
            others = self._announced.those_of(self._board.others(patience))
            if new := [one for one in others if one not in self._others]:
                _log.info("asked are servers of others, too: %s", ", ".join(new))
            self._others = others

    def _ours(self) -> list[str]:
        """Our addresses as other machines reach them."""
        if not (ready := self._own.ready):
            return []
        try:
            self._refuse_overwritten()
        except ModelError as why:
            if not self._is_refused:
                _log.warning("our servers are not announced any more: %s", why)
            self._is_refused = True
            return []
        parts = [urlsplit(one) for one in ready]
        return [f"http://{self._reached_as}:{one.port}{one.path}" for one in parts]
