"""The Dagster UI as a process of its own: what it says goes into a file, and it ends with us.

Also where we are killed: ``outliving`` runs it.
"""

import os
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from contextlib import closing, nullcontext, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Self

from bench_assets.bench import outliving
from bench_assets.core.errors import HomeError, SettingsError
from resources.settings.environment import CHECKOUT, environment_of

_HOST = "127.0.0.1"
_EACH = 0.5  # s between two looks whether it answers
_LAST = 5.0  # s that it has to end after SIGTERM
_SHOWN = 8  # lines of its log


def require_free(port: int, host: str = _HOST) -> None:
    """Look whether a port can be had, before anything is started.

    Raises:
        SettingsError: If somebody listens there, or we may not.
    """
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # closed a moment ago is free
        try:
            one.bind((host, port))
        except OSError as why:
            raise SettingsError(
                f"port {port} of {host} cannot be had ({why.strerror}): is it open already?"
                " --port takes another"
            ) from why


def answers(host: str, port: int, path: str) -> bool:
    """Whether a server says at a path that all is well."""
    try:
        with closing(HTTPConnection(host, port, timeout=5)) as connection:
            connection.request("GET", path)
            return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False


class Served:
    """The UI, from its start to its end; a context manager. Another server says what it is."""

    what = "the UI"
    health = "/server_info"  # what answers once it is ready

    def __init__(self, home: Path, port: int) -> None:
        self.log: Path | None = home / "dagster" / "ui.log"  # None: it says it where we do
        self.address = f"http://{_HOST}:{port}"
        self.port = port
        self.home = home

    def command(self) -> list[str]:
        """What is started."""
        at = ["-h", _HOST, "-p", str(self.port)]
        return [sys.executable, "-m", "dagster", "dev", "-w", "workspace.yaml", *at]

    def environment(self) -> dict[str, str]:
        """What it finds in its environment."""
        return environment_of(self.home)

    def __enter__(self) -> Self:
        """Start it.

        Raises:
            HomeError: If its log cannot be written.
        """
        watched = [sys.executable, "-m", outliving.__name__]
        try:
            with self.log.open("wb") if self.log else nullcontext() as log:
                self._process = subprocess.Popen(
                    [*watched, *self.command()],
                    cwd=CHECKOUT,
                    env=self.environment(),
                    stdin=subprocess.PIPE,  # closed when we end
                    stdout=log,
                    stderr=subprocess.STDOUT if log else None,
                    start_new_session=True,  # it is told to end once, by us
                )
        except OSError as why:
            raise HomeError(f"{why.filename}: {why.strerror}") from why
        return self

    def __exit__(self, *_: object) -> None:
        """End it, with all that it started."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        with suppress(ProcessLookupError, PermissionError):
            try:
                self._process.wait(outliving.PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGTERM)
                time.sleep(_LAST)
                os.killpg(self._process.pid, signal.SIGKILL)
            os.killpg(self._process.pid, signal.SIGTERM)  # what it has left behind
        if self._process.stdin:
            self._process.stdin.close()

    def wait_for_answer(self) -> None:
        """Wait until the page is there.

        Raises:
            HomeError: If it ended instead; shows the end of its log.
        """
        while not self._answers():
            self._require_running(_EACH)

    def wait_for_end(self) -> None:
        """Wait until somebody ends it.

        Raises:
            HomeError: If it ends by itself.
        """
        while True:
            self._require_running(None)

    def browse(self) -> None:
        """Open the page in the browser, where there is one."""
        webbrowser.open(self.address)

    def _answers(self) -> bool:
        return answers(_HOST, self.port, self.health)

    def _require_running(self, seconds: float | None) -> None:
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return
        if self.log is None:
            raise HomeError(f"{self.what} ended by itself ({code})")
        last = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-_SHOWN:]
        raise HomeError(
            "\n  ".join([f"{self.what} ended by itself ({code}); {self.log} ends:", *last])
        )
