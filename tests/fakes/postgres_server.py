"""A PostgreSQL server for tests, on a free loopback port and in a temporary folder."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.fakes.ports import free_port

USER, PASSWORD = "bench", "pa/ss word%10"


class PostgresServer:
    """A server that a test can stop and start again; ``postgres`` starts one."""

    def __init__(self, folder: Path, *, fsync: bool) -> None:
        self._folder = folder
        self._fsync = "on" if fsync else "off"
        self._programs = _programs()
        if not self._programs:
            pytest.skip("no PostgreSQL here: apt-get install postgresql")
        if not find_spec("psycopg"):
            pytest.skip("no psycopg here: make cluster-check installs it")
        self.port = free_port()

    def address(self, database: str = "postgres", password: str = PASSWORD) -> str:
        """The address of a database, with the password quoted."""
        quoted = password.replace("%", "%25").replace("/", "%2F").replace(" ", "%20")
        return f"postgresql://{USER}:{quoted}@127.0.0.1:{self.port}/{database}"

    def make(self) -> None:
        """Create the files of a server that requires the password."""
        secret = self._folder / "password"
        secret.write_text(PASSWORD)
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            for path in (self._folder, secret):
                shutil.chown(path, "postgres", "postgres")
        options = ("--auth=scram-sha-256", f"--pwfile={secret}", f"--username={USER}", "--no-sync")
        self._run("initdb", "-E", "UTF8", "--locale=C", *options)

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c max_connections=200"
            f" -c unix_socket_directories={self._folder} -c fsync={self._fsync}"
        )
        self._run("pg_ctl", "-w", "-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop the server, and close all connections."""
        self._run("pg_ctl", "-w", "-m", "fast", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        assert self._programs
        command = [str(self._programs / program), "-D", str(self._folder / "data"), *arguments]
        user = "postgres" if os.getuid() == 0 else None
        output = subprocess.DEVNULL
        subprocess.run(
            command, user=user, check=True, cwd=self._folder, stdout=output, stderr=output
        )


@contextmanager
def postgres(*, fsync: bool = False) -> Iterator[PostgresServer]:
    """Run a server during the block; without ``fsync``, a power failure may lose data."""
    with tempfile.TemporaryDirectory(prefix="bench-postgres-") as folder:
        server = PostgresServer(Path(folder), fsync=fsync)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _programs() -> Path | None:
    """The folder of initdb and pg_ctl: Debian's newest, or that on the path."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    if installed:
        return installed[-1].parent
    on_path = shutil.which("pg_ctl")
    return Path(on_path).parent if on_path else None
