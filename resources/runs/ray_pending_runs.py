"""Pending runs on a Ray cluster.

Its only remedy is a limit from the moment in which they were sent: with one that suits a cluster
that is full, a job that is gone would hold its pools for as long.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import dagster as dg
from sqlalchemy.exc import SQLAlchemyError

from bench_assets.core.schema.errors import BenchError
from resources.runs.ray_capacity import Resources, Room

_LOG = logging.getLogger("bench_assets.ray")

_BETWEEN = 10.0  # s between two looks
_TO_BEGIN = 300.0  # s; a process starts and imports the graph: minutes on a cold network disk
_FOR_A_NODE = 50.0  # s for one to appear that is large enough
_STARTING = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTING])


class StartingRuns:
    """Looks after them in a thread, until there is none; fails those that will never begin."""

    def __init__(
        self, instance: dg.DagsterInstance, why_over: Callable[[dg.DagsterRun], str]
    ) -> None:
        """Look at nothing yet.

        Args:
            instance: Whose runs.
            why_over: Says why one will never begin; "" of one that may.
        """
        self._instance = instance
        self._why_over = why_over
        self._is_watched = threading.Lock()
        self._thread: threading.Thread | None = None
        self._enough = threading.Event()

    def watch(self) -> None:
        """Look from now on; one thread at a time."""
        if not self._enough.is_set() and self._is_watched.acquire(blocking=False):
            self._thread = threading.Thread(target=self._look_after, name="starting", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Look no more: what records runs is about to be closed."""
        self._enough.set()
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join(_BETWEEN)

    def _look_after(self) -> None:
        try:
            while runs := self._instance.get_runs(_STARTING):
                if self._enough.wait(_BETWEEN):
                    return
                for run in runs:
                    self._end_if_over(run)
        except (BenchError, SQLAlchemyError, dg.DagsterError) as why:  # the next run has it looked
            if not self._enough.is_set():
                _LOG.warning("runs that are starting are not looked at: %s", why)
        finally:
            self._is_watched.release()

    def _end_if_over(self, run: dg.DagsterRun) -> None:
        """Fail a run that will not begin, and free its pools."""
        if not (why := self._why_over(run)) or self._enough.is_set():
            return
        now = self._instance.get_run_by_id(run.run_id)
        if now and now.status == run.status:  # else it wrote its end before its job ended
            self._instance.report_run_failed(now, why)
            self._instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)


class _Delay(NamedTuple):
    of: str
    since: float  # s of the monotonic clock


class Delays:
    """What keeps runs from beginning, and since when."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with none; ``clock`` tells seconds."""
        self._clock = clock
        self._of: dict[str, _Delay] = {}

    def why_over(self, run_id: str, room: Room | None, needs: Resources, waits: bool) -> str:
        """Say why a run whose job is there has had its time; "" if it has some left.

        Args:
            run_id: Looked at before, perhaps.
            room: What the cluster has; None: nobody knows.
            needs: What the run takes.
            waits: Whether a cluster is waited for that has no node for it: it may grow.
        """
        if room is None or room.is_waited_for(needs):
            nowhere = room.why_nowhere(needs) if room and not waits else ""
            waited = self._for(run_id, "a node" if nowhere else "room")
            return f"This run cannot begin: {nowhere}." if nowhere and waited > _FOR_A_NODE else ""
        if self._for(run_id, "its process") < _TO_BEGIN:
            return ""
        return f"Ray has had room for this run for {_TO_BEGIN:.0f} s, and it did not begin."

    def _for(self, run_id: str, what: str) -> float:
        """Seconds for which this and nothing else has kept a run."""
        before, now = self._of.get(run_id), self._clock()
        if before is None or before.of != what:
            self._of[run_id] = before = _Delay(what, now)
        return now - before.since
