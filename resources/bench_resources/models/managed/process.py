"""Server process with a readiness probe and a redacted log."""

import io
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

import orjson

from bench_assets.core.schema.errors import ModelError
from bench_assets.core.text.redaction import Secrets
from bench_resources.config.environment import find_program
from bench_resources.http.pages import fetch_page
from bench_resources.models.api.formats.response_body import as_object
from bench_resources.models.managed import process_watchdog

_POLL_SECONDS = 0.05  # s between two checks of a starting server
_ANSWER_TIMEOUT = 5.0  # s to wait for an answer of a starting server
_SHOWN_LINES = 15  # lines of a log that a message shows
_LINE_LENGTH = 300  # characters of each of these lines
_TAIL_BYTES = 4096  # bytes read from the end of the log
_PATIENCE = 2.0  # s to wait for the end of the output, which an orphan may hold open
HOST = "127.0.0.1"


def free_port() -> int:
    """A free local port."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return int(listener.getsockname()[1])


class StartedServer:
    """A server process on a local port; the process watchdog ends it with ours."""

    def __init__(self, command: Sequence[str], port: int, log: Path, secrets: Secrets) -> None:
        """Start the process.

        Raises:
            ModelError: If there is no such program, or the log cannot be written.
        """
        program = find_program(command[0])
        if program is None:
            folder = Path(sys.executable).parent
            raise ModelError(f"no program {command[0]} in PATH or in {folder}")
        self.port = port
        self._log = log
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            log_file = log.open("wb", buffering=0)
        except OSError as error:
            raise ModelError(f"{log}: {error.strerror}") from error
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", process_watchdog.__file__, program, *command[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,  # our interrupts do not reach it
        )
        assert self._process.stdout is not None
        streams = (self._process.stdout, log_file)
        self._log_thread = Thread(target=copy_redacted, args=(*streams, secrets), daemon=True)
        self._log_thread.start()

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def wait_until_ready(self, health: str, timeout: float) -> None:
        """Wait at most ``timeout`` seconds until the server is healthy.

        Raises:
            ModelError: If it ends, or takes too long.
        """
        deadline = time.monotonic() + timeout
        while not self.is_ready(health):
            if self.has_ended:
                raise ModelError(self.wait())
            if time.monotonic() > deadline:
                message = f"the server is not ready after {timeout:g} s (start_timeout)"
                raise ModelError(f"{message}{self._log_tail()}")
            time.sleep(_POLL_SECONDS)

    def is_ready(self, health: str) -> bool:
        """Whether the server is healthy; without a health page, whether it lists its models."""
        status, _ = self._get(health)
        if status in (404, 405):
            status, _ = self._get("/v1/models")
        return status == 200

    def allow_restarts(self, max_restarts: int) -> None:
        """Have the watchdog restart the server when it ends, at most ``max_restarts`` times."""
        assert self._process.stdin is not None
        with suppress(OSError):  # it has ended
            self._process.stdin.write(str(max_restarts).encode())
            self._process.stdin.flush()

    def wait(self) -> str:
        """Wait until the process ends; returns the reason."""
        code = self._process.wait()
        self._log_thread.join(_PATIENCE)
        return f"the server ended with code {code}{self._log_tail()}"

    def end(self) -> None:
        """End the process and its children."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(process_watchdog.PATIENCE + 5)  # and 5 s to kill the children
        self._process.kill()
        self._process.wait()
        self._log_thread.join(_PATIENCE)

    def refuse_other_weights(self, model: str, path: str) -> None:
        """Refuse a server that lists other weights for a model, as ``root`` in vLLM's list.

        Raises:
            ModelError: If they are another folder of this machine.
        """
        _, body = self._get("/v1/models")
        try:
            models = as_object(orjson.loads(body)).get("data")
        except orjson.JSONDecodeError:
            return
        for fields in map(as_object, models if isinstance(models, list) else []):
            root = Path(str(fields.get("root")))
            is_local = fields.get("id") == model and root.is_absolute() and root.exists()
            if is_local and not root.samefile(path):
                raise ModelError(f"the server's {model} is {root} (expected {path})")

    def _get(self, page: str) -> tuple[int, bytes]:
        """Status and body of a page of the server."""
        return fetch_page(f"http://{HOST}:{self.port}", page, timeout=_ANSWER_TIMEOUT)

    def _log_tail(self) -> str:
        """The last lines, and the path of the log."""
        with self._log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            tail = file.read().decode("utf-8", "replace").splitlines()
        lines = [line.rstrip()[:_LINE_LENGTH] for line in tail if line.strip()][-_SHOWN_LINES:]
        return "".join(f"\n  {line}" for line in lines) + f"\n  (full log: {self._log})"


def copy_redacted(pipe: IO[bytes], log: IO[bytes], secrets: Secrets) -> None:
    """Copy the output of a process to a log without secrets, until it is closed.

    By lines, so that no secret is split; those of a progress bar end with carriage returns.
    """
    lines = io.TextIOWrapper(pipe, "utf-8", "surrogateescape", newline="")
    with lines, log:
        for line in lines:
            encoded = line.encode("utf-8", "surrogateescape")
            with suppress(OSError):  # a full disk; the pipe has to be drained all the same
                log.write(secrets.redacted_bytes(encoded))
