"""Server process with a readiness probe and a redacted log."""

import io
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO

import orjson

from bench_assets.core.schema.errors import ModelError
from bench_assets.core.text.redaction import Secrets
from resources.http.pages import fetch_page
from resources.models.api.formats.response_body import fields_of
from resources.models.managed import process_watchdog

_LOOK = 0.05  # s between two looks at a server that starts
_ANSWER_TIMEOUT = 5.0  # s
HOST = "127.0.0.1"
_INSTALL = {"vllm-router": ". Several servers need it: pip install 'bench-assets[cluster]'"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessProbe:
    """Readiness criteria of a started server."""

    health: str  # the page that says 200
    model: str  # the name of its model
    path: str  # the folder with the weights
    within: float  # s


def free_port() -> int:
    """A free local port."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])


def program(named: str) -> str:
    """Find a program in PATH or beside the running Python.

    Raises:
        ModelError: If there is none.
    """
    beside = Path(sys.executable).parent
    if found := shutil.which(named) or shutil.which(named, path=str(beside)):
        return found
    raise ModelError(f"no program {named} in PATH or in {beside}{_INSTALL.get(named, '')}")


class StartedServer:
    """A server process on a local port; the process watchdog ends it with ours."""

    def __init__(
        self,
        command: Sequence[str],
        port: int,
        said: Path,
        environment: Mapping[str, str],
        secrets: Secrets,
    ) -> None:
        """Start the process.

        Raises:
            ModelError: If there is no such program.
            OSError: If the file cannot be written.
        """
        words = [program(command[0]), *command[1:]]
        self.port = port
        said.parent.mkdir(parents=True, exist_ok=True)
        self._said = ProcessLog(said, secrets)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", process_watchdog.__file__, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
            start_new_session=True,  # an interrupt of ours is no word to it
        )
        assert self._process.stdout is not None
        self._said.listen(self._process.stdout)

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def wait_until_ready(self, asked: ReadinessProbe) -> None:
        """Wait until the server is healthy and serves the expected weights.

        Raises:
            ModelError: If it ends, takes too long, or serves something else.
        """
        until = time.monotonic() + asked.within
        while not self.is_ready(asked.health):
            if self.has_ended:
                raise ModelError(self.wait())
            if time.monotonic() > until:
                raise ModelError(
                    f"the server is not ready after {asked.within:g} s (start_timeout)"
                    f"{self._said.last_words}"
                )
            time.sleep(_LOOK)
        if other := _other_weights(self._get("/v1/models")[1], asked.model, asked.path):
            raise ModelError(f"the server's {asked.model} is {other} (expected {asked.path})")

    def is_ready(self, health: str) -> bool:
        """Whether the server is healthy now; without such a page, whether it lists its models."""
        status, _ = self._get(health)
        return status == 200 or (status in (404, 405) and self._get("/v1/models")[0] == 200)

    def restart(self, most: int) -> None:
        """Have the watchdog restart the server, whenever it ends from now on."""
        assert self._process.stdin is not None
        with suppress(OSError):  # it has ended
            self._process.stdin.write(str(most).encode())
            self._process.stdin.flush()

    def wait(self) -> str:
        """Wait until the process ends; returns the reason."""
        code = self._process.wait()
        self._said.wait()
        return f"the server ended with code {code}{self._said.last_words}"

    def let_go(self) -> None:
        """Ask the process to end without waiting."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def end(self) -> None:
        """End the process and its children."""
        self.let_go()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(process_watchdog.PATIENCE + 5)
        self._process.kill()
        self._process.wait()
        self._said.wait()

    def _get(self, page: str) -> tuple[int, bytes]:
        try:
            return fetch_page(f"http://{HOST}:{self.port}", page, timeout=_ANSWER_TIMEOUT)
        except TimeoutError:
            return 0, b""


def _other_weights(body: bytes, model: str, path: str) -> str:
    """The folder that a server lists for a model, if it exists here and differs; else "".

    vLLM lists it as ``root``; other servers list none.
    """
    try:
        listed = fields_of(orjson.loads(body)).get("data")
    except orjson.JSONDecodeError:
        return ""
    for one in map(fields_of, listed if isinstance(listed, list) else []):
        root = Path(str(one.get("root")))
        if one.get("id") == model and root.is_absolute() and root.exists():
            return "" if root.samefile(path) else str(root)
    return ""


_WORDS = 15  # lines
_END = 4096  # bytes at the end of the file
_LONGEST = 300  # characters of a line
_PATIENCE = 2.0  # s; a process that is left over may hold the pipe of one that has ended


class ProcessLog:
    """Writes the output of a process to a file, redacted."""

    def __init__(self, file: Path, secrets: Secrets) -> None:
        """Truncate the file.

        Raises:
            OSError: If it cannot be written.
        """
        self._file = file
        self._secrets = secrets
        self._log = file.open("wb", buffering=0)
        self._thread: Thread | None = None

    def listen(self, pipe: IO[bytes]) -> None:
        """Copy from a pipe until it is closed."""
        self._thread = Thread(target=self._write, args=[pipe], daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until the output of an ended process is written."""
        if self._thread:
            self._thread.join(_PATIENCE)

    @property
    def last_words(self) -> str:
        """The last lines, and the path of the log."""
        with suppress(OSError), self._file.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _END))
            said = file.read().decode("utf-8", "replace").splitlines()
            lines = [line.rstrip()[:_LONGEST] for line in said if line.strip()][-_WORDS:]
            return "".join(f"\n  {line}" for line in lines) + f"\n  (all of it: {self._file})"
        return ""

    def _write(self, pipe: IO[bytes]) -> None:
        # Line by line, or a secret could stand in two pieces; a progress bar's end with "\r".
        lines = io.TextIOWrapper(pipe, "utf-8", "surrogateescape", newline="")
        with lines, self._log:
            for line in lines:
                said = line.encode("utf-8", "surrogateescape")
                with suppress(OSError):  # a full disk; the pipe has to be read all the same
                    self._log.write(self._secrets.redacted_bytes(said))
