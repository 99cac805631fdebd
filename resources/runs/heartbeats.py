"""Runs of all machines that record in common say that they live, by the database's clock.

Nobody can look at a process of another machine. So beside each run a small process of its own says
every few seconds that the run's still is there: one that a library keeps from a thread for minutes,
as reading weights may, has a heartbeat all the same. It ends with the run's, however that was
ended.
"""

import logging
import os
import select
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

from bench_assets.core.schema.errors import HomeError
from resources.storage.postgres import Connection, ConnectionPool, Database

LEASE = 30.0  # s after which a run that said nothing is gone
_EACH = 5.0  # s between two beats
_AT_THE_END = 5.0  # s that is waited until nothing beats any more
_OVER = b"over\n"
_STORE, _VERSION = "heartbeats", 1
_SCHEMA = "CREATE TABLE bench_heartbeats (run_id text PRIMARY KEY, until timestamptz NOT NULL);"
_BEAT = """
INSERT INTO bench_heartbeats VALUES (%(run)s, clock_timestamp() + %(lease)s * interval '1 second')
ON CONFLICT (run_id) DO UPDATE SET until = excluded.until
"""
_END = "DELETE FROM bench_heartbeats WHERE run_id = %(run)s"
# A database that was away has heard nobody: all have another lease to say that they live.
_LOST = """
SELECT until < clock_timestamp()
    AND pg_postmaster_start_time() < clock_timestamp() - %(lease)s * interval '1 second' AS lost
FROM bench_heartbeats WHERE run_id = %(run)s
"""
_LOG = logging.getLogger("bench_assets.runs")


class Heartbeats:
    """The heartbeats in a database."""

    def __init__(self, address: str, variable: str, lease: float = LEASE) -> None:
        """Say where they are; nothing is opened yet.

        Args:
            address: Of a PostgreSQL.
            variable: The environment variable it was read from, for complaints.
            lease: s for which a beat holds.
        """
        self._address, self._variable = address, variable
        self._lease = lease

    @contextmanager
    def beating(self, run_id: str) -> Generator[None]:
        """Say that a run lives, as long as the block and this process do."""
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
                process.stdin.write(_OVER)
                process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_AT_THE_END)

    def is_lost(self, run_id: str) -> bool:
        """Whether a run that said that it lives does so no more."""

        def look(db: Connection) -> bool:
            known = db.execute("SELECT to_regclass('bench_heartbeats') AS there").fetchone()
            if not known or known["there"] is None:
                return False
            found = db.execute(_LOST, {"run": run_id, "lease": self._lease}).fetchone()
            return bool(found and found["lost"])

        return self._database().run(look)

    def _database(self) -> Database:
        return Database(self._address, self._variable)


def main(run_id: str, variable: str, lease: str) -> None:
    """Beat until standard input ends, whose first line is the address: no command line has it."""
    given = {"run": run_id, "lease": float(lease)}
    database = Database(sys.stdin.readline().strip(), variable)
    database.make_ready(_STORE, _VERSION, _SCHEMA)
    with database.line() as line:
        _beat(line, given)
        # Of what has ended by itself nothing is said; of all else that it is gone, and now.
        is_over = sys.stdin.readline().encode() == _OVER
        line.run(lambda db: db.execute(_END if is_over else _BEAT, given | {"lease": -1}))


def _beat(line: ConnectionPool, given: dict[str, object]) -> None:
    parent, each = os.getppid(), min(_EACH, float(str(given["lease"])) / 4)
    while os.getppid() == parent:
        try:
            line.run(lambda db: db.execute(_BEAT, given))
        except HomeError as why:  # away for long: the run will learn of it by itself
            _LOG.warning("%s", why)
        if select.select([sys.stdin], [], [], each)[0]:
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
