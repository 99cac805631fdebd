"""Heartbeats of runs: whether a run on another machine is alive, by the database's clock.

A small process beside each run renews a lease every few seconds; a thread could be blocked for
minutes by a library that holds the interpreter lock. The process ends with the run's.
"""

import logging
import os
import select
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

from bench_assets.core.schema.errors import HomeError
from bench_resources.cluster.postgres import PostgresDatabase
from bench_resources.storage.leases import Leases

LEASE = 30.0  # s after which a run without a beat is lost
_INTERVAL = 5.0  # s between two beats
_STOP_TIMEOUT = 5.0  # s to wait for the last beat
_STOP_LINE = b"over\n"
_LOG = logging.getLogger("bench_assets.runs")


class Heartbeats:
    """The heartbeats in a database."""

    def __init__(self, address: str, variable: str, lease: float = LEASE) -> None:
        """Name the PostgreSQL database, to which the first beat connects.

        A run is lost ``lease`` s after its last beat. Messages name the environment ``variable``.
        """
        self._address, self._variable = address, variable
        self._lease = lease

    @contextmanager
    def keep_alive(self, run_id: str) -> Generator[None]:
        """Send heartbeats of a run from another process until the block or this process ends."""
        command = [sys.executable, "-m", __name__, run_id, self._variable, str(self._lease)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        )
        assert process.stdin
        with suppress(BrokenPipeError):
            process.stdin.write(f"{self._address}\n".encode())
            process.stdin.flush()
        try:
            yield
        finally:
            with suppress(BrokenPipeError):
                process.stdin.write(_STOP_LINE)
                process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_TIMEOUT)

    def is_lost(self, run_id: str) -> bool:
        """Whether the heartbeats of a run stopped unasked; False if it never had any."""
        database = PostgresDatabase(self._address, self._variable)
        return Leases(database, self._lease).is_lost(_key(run_id))


def main(run_id: str, variable: str, lease: str) -> None:
    """Send heartbeats until stdin ends; its first line is the address, which may be secret."""
    leases = Leases(PostgresDatabase(sys.stdin.readline().strip(), variable), float(lease))
    _beat(leases, run_id)
    if sys.stdin.readline().encode() == _STOP_LINE:
        leases.release()
    else:  # the process of the run was killed
        leases.expire()


def _beat(leases: Leases, run_id: str) -> None:
    """Renew the lease of a run until stdin is readable or the parent process has ended."""
    parent, interval = os.getppid(), min(_INTERVAL, leases.seconds / 4)
    while os.getppid() == parent:
        try:
            leases.take([_key(run_id)])
        except HomeError as error:  # an unreachable database: the run fails by itself
            _LOG.warning("%s", error)
        readable, _, _ = select.select([sys.stdin], [], [], interval)
        if readable:
            return


def _key(run_id: str) -> str:
    return f"run:{run_id}"


if __name__ == "__main__":
    main(*sys.argv[1:])
