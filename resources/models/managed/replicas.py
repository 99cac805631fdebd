"""Replicas of a server: started, monitored and ended."""

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Condition, Event, Thread

from bench_assets.core.schema.errors import BenchError, ModelError
from resources.models.managed.process import ReadinessProbe, StartedServer

_log = logging.getLogger("bench_assets.server")
_LIVED = 300.0  # s; who lived so long has died of something else than the one before it
_LONGEST_PAUSE = 30.0  # s before one is started anew


class ServerReplicas:
    """Several servers; one that dies is restarted while the others share the work.

    A server that never became ready is not restarted.
    """

    def __init__(
        self,
        start: Callable[[int], StartedServer],
        asked: ReadinessProbe,
        *,
        steady: Callable[[], AbstractContextManager[None]],
        n: int,
        most_starts: int,
        pause: float = 0.2,
    ) -> None:
        """Store the configuration; nothing is started yet.

        Args:
            start: Starts the server with a number, counted from 0.
            asked: Criteria of readiness.
            steady: Verifies that the weights are the same before and after a start.
            n: Number of servers.
            most_starts: Restarts of a server that dies early.
            pause: Wait before the first restart in s; doubled for each further one.
        """
        self._start = start
        self._asked = asked
        self._steady = steady
        self._n = n
        self._most_starts = most_starts
        self._pause = pause
        self._changed = Condition()
        self._ready: dict[int, str] = {}  # number -> address
        self._running: dict[int, StartedServer] = {}
        self._lost: list[ModelError] = []  # one for each that is given up
        self._over = Event()
        self._keepers: list[Thread] = []

    @property
    def is_started(self) -> bool:
        """Whether ``start`` was called since the last ``close``."""
        return bool(self._keepers)

    @property
    def ready(self) -> list[str]:
        """Addresses of the servers that are ready."""
        with self._changed:
            return [self._ready[number] for number in sorted(self._ready)]

    def start(self) -> None:
        """Start all servers without waiting."""
        if self._keepers:
            return
        self._keepers = [
            Thread(target=self._keep, args=[number], daemon=True) for number in range(self._n)
        ]
        for one in self._keepers:
            one.start()

    def wait_for_one(self) -> None:
        """Start all servers and wait until one is ready."""
        if not self._keepers:
            self.start()
            with self._changed:
                while not self._ready and len(self._lost) < self._n:
                    self._changed.wait(1.0)  # with a limit, so that signals are heard
        self.addresses()

    def addresses(self) -> list[str]:
        """Addresses of the servers that are ready; none while all restart."""
        with self._changed:
            if len(self._lost) == self._n:
                raise ModelError(str(self._lost[0]))
        return self.ready

    def close(self) -> None:
        """Stop all servers; they can be started again."""
        self._over.set()
        with self._changed:
            running = list(self._running.values())
        for server in running:
            server.let_go()
        for server in running:
            server.end()
        for one in self._keepers:
            one.join()
        self._keepers, self._lost, self._over = [], [], Event()

    def _keep(self, number: int) -> None:
        """Supervise one server until it is given up or ``close`` is called."""
        died, came_up = 0, False
        while not self._over.is_set():
            began = time.monotonic()
            try:
                came_up, why = True, self._run(number)
            except (BenchError, OSError) as failed:  # OSError: no process, no file for its words
                why = str(failed)
                if not came_up:
                    self._give_up(number, why)
                    return
            if self._over.is_set():
                return
            died = 1 if time.monotonic() - began > _LIVED else died + 1
            if died > self._most_starts:
                self._give_up(number, f"{why}\n  (started {died} times)")
                return
            _log.warning("%s; restarted", why)
            self._over.wait(min(self._pause * 2 ** (died - 1), _LONGEST_PAUSE))

    def _run(self, number: int) -> str:
        """Run one server until it ends; returns the reason."""
        try:
            with self._steady():
                server = self._started(number)
                server.wait_until_ready(self._asked, self._over)
            _log.info("%s is served at %s", self._asked.path, server.base_url)
            with self._changed:
                self._ready[number] = server.base_url
                self._changed.notify_all()
            return server.wait()
        finally:
            with self._changed:
                self._ready.pop(number, None)
                ended = self._running.pop(number, None)
            if ended:
                ended.end()

    def _started(self, number: int) -> StartedServer:
        with self._changed:  # so that who closes finds it
            if self._over.is_set():
                raise ModelError("the server was not waited for")
            server = self._running[number] = self._start(number)
        return server

    def _give_up(self, number: int, why: str) -> None:
        _log.warning("server %d of %d is given up: %s", number + 1, self._n, why)
        with self._changed:
            self._lost.append(ModelError(why))
            self._changed.notify_all()
