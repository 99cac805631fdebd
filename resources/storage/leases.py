"""Claims: of many that would start the same work at once, one has the right to, for a while."""

import fcntl
import os
import time
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from resources.storage.postgres import Connection, Database


class Leases(Protocol):
    """The port to claims: files of the home, or a table of a database that homes share."""

    def take(self, name: str) -> bool:
        """Take the right to start something; False if another has taken it within the time."""
        ...


class FileLeases:
    """An empty file for each claim; its time of change says when it was taken."""

    def __init__(self, folder: Path, seconds: float) -> None:
        """Say where they are, and for how many seconds one holds."""
        self._folder = folder
        self._seconds = seconds

    def take(self, name: str) -> bool:
        """Take the right to start something; False if another has taken it within the time."""
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / sha256(name.encode()).hexdigest()[:32]
        try:
            file.touch(exist_ok=False)
        except FileExistsError:
            return self._take_over(file)
        return True

    def _take_over(self, file: Path) -> bool:
        with file.open() as held:
            fcntl.flock(held, fcntl.LOCK_EX)  # of several that find it too old, one takes it
            if time.time() - os.fstat(held.fileno()).st_mtime < self._seconds:
                return False
            os.utime(file)
        return True


class PostgresLeases:
    """A row for each claim; the clock is the database's, one for all machines."""

    _VERSION = 1
    _SCHEMA = """
    CREATE TABLE bench_claims (name bytea PRIMARY KEY, taken_at timestamptz NOT NULL);
    """
    _TAKE = """
    INSERT INTO bench_claims AS there VALUES (%(name)s, clock_timestamp())
    ON CONFLICT (name) DO UPDATE SET taken_at = excluded.taken_at
    WHERE there.taken_at <= clock_timestamp() - %(seconds)s * interval '1 second' RETURNING name
    """

    def __init__(self, database: Database, seconds: float) -> None:
        """Say where they are, and for how many seconds one holds; nothing is opened yet."""
        self._database = database
        self._seconds = seconds
        self._is_ready = False

    def take(self, name: str) -> bool:
        """Take the right to start something; False if another has taken it within the time.

        Raises:
            HomeError: If the database cannot be used.
        """
        if not self._is_ready:
            self._database.make_ready("claims", self._VERSION, self._SCHEMA)
            self._is_ready = True
        named = {"name": sha256(name.encode()).digest(), "seconds": self._seconds}

        def take(db: Connection) -> bool:
            return db.execute(self._TAKE, named).fetchone() is not None

        return self._database.run(take)
