"""Process of a started server, with a readiness probe."""

import http.client
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
from threading import Event, Thread
from typing import IO

import orjson

from bench_assets.core.schema.errors import ModelError
from bench_assets.core.text.redaction import Secrets
from resources.models.managed import process_watchdog
from resources.models.managed.ports import listened_before

_LOOK = 0.05  # s between two looks at a server that starts
_ANSWER = 5.0  # s; longest wait for one
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessProbe:
    """What a server that was started is to be asked, and to say, before it counts as ready."""

    health: str  # the page that says 200
    model: str  # the name of its model
    path: str  # the folder with the weights
    within: float  # s


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])


def program(named: str) -> str:
    """Find a program, in PATH or beside our Python.

    Raises:
        ModelError: If there is none.
    """
    beside = Path(sys.executable).parent
    if found := shutil.which(named) or shutil.which(named, path=str(beside)):
        return found
    raise ModelError(f"serve: there is no program {named}, in PATH or in {beside}")


class StartedServer:
    """A process that listens at a port; it ends when ours does, however that is ended."""

    def __init__(
        self,
        command: Sequence[str],
        port: int,
        said: Path,
        environment: Mapping[str, str],
        secrets: Secrets,
    ) -> None:
        """Start it.

        Args:
            command: Its words.
            port: Where it is to listen.
            said: File for what it says.
            environment: What is added to ours.
            secrets: What is not written into that file.

        Raises:
            ModelError: If there is no such program.
            OSError: If the file cannot be written.
        """
        words = [program(command[0]), *command[1:]]
        self.port = port
        said.parent.mkdir(parents=True, exist_ok=True)
        self._said = ProcessLog(said, secrets)
        self._began = time.time()
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
    def base_url(self) -> str:
        """Its address."""
        return f"http://{HOST}:{self.port}/v1"

    def wait_until_ready(self, asked: ReadinessProbe, enough: Event) -> None:
        """Wait until it can be asked, and is the one that was meant.

        Args:
            asked: What makes it ready.
            enough: Set when nobody waits any more.

        Raises:
            ModelError: If it ends, takes too long, serves something else, or nobody waits.
        """
        until = time.monotonic() + asked.within
        while not self._is_ready(asked.health):
            if self._process.poll() is not None:
                raise ModelError(self.wait())
            if enough.wait(_LOOK):
                raise ModelError("the server was not waited for")
            if time.monotonic() > until:
                raise ModelError(
                    f"the server cannot be asked after {asked.within:g} s (start_timeout)"
                    f"{self._said.last_words}"
                )
        if listened_before(self.port, self._began):
            raise ModelError(f"at port {self.port} another server listens")
        self._refuse_others(asked)

    def wait(self) -> str:
        """Wait until it ends; says how."""
        code = self._process.wait()
        self._said.wait()
        return f"the server ended with code {code}{self._said.last_words}"

    def let_go(self) -> None:
        """Have it end; it is not waited for."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def end(self) -> None:
        """End it, and whatever it started."""
        self.let_go()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(process_watchdog.PATIENCE + 5)
        self._process.kill()
        self._process.wait()
        self._said.wait()

    def _is_ready(self, health: str) -> bool:
        status, _ = self._get(health)
        return status == 200 or (status in (404, 405) and self._get("/v1/models")[0] == 200)

    def _refuse_others(self, asked: ReadinessProbe) -> None:
        """Refuse a server that says that it has other weights under the name.

        That the process has our path in its command, and nobody else listens there, is what is
        certain.
        """
        if other := other_weights(self._get("/v1/models")[1], asked.model, asked.path):
            raise ModelError(f"the server says that {asked.model} is {other}, not {asked.path}")

    def _get(self, page: str) -> tuple[int, bytes]:
        """Status and body; 0 where nobody answers."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=_ANSWER)
        try:
            connection.request("GET", page)
            answer = connection.getresponse()
            return answer.status, answer.read(1 << 20)
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()


def other_weights(body: bytes, model: str, path: str) -> str:
    """The folder that a server names for a model where that is another than was meant; else "".

    Not all servers name one: vLLM does, as ``root``. A folder that is not on this machine tells
    nothing.

    Args:
        body: What ``/v1/models`` answered.
        model: The name that the server knows it by.
        path: The folder that was meant.
    """
    roots = [one.get("root") for one in _listed(body) if one.get("id") == model]
    others = [root for root in roots if isinstance(root, str) and _is_other(root, path)]
    return others[0] if others else ""


def _listed(body: bytes) -> list[dict[str, object]]:
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        return []
    models = said.get("data") if isinstance(said, dict) else None
    return [one for one in models if isinstance(one, dict)] if isinstance(models, list) else []


def _is_other(root: str, path: str) -> bool:
    """Whether a folder that there is is another than the one that was meant."""
    here = Path(root)
    return here.is_absolute() and here.exists() and not here.samefile(path)


_CHUNK = 1 << 16
_KEPT = 1 << 12  # bytes at the end of a line without an end: a secret may go on in the next ones
_WORDS = 15  # lines
_END = 4096  # bytes at the end of the file
_LONGEST = 300  # characters of a line
_PATIENCE = 2.0  # s; a process that is left over may hold the pipe of one that has ended


class ProcessLog:
    """Writes what comes out of a pipe into a file."""

    def __init__(self, file: Path, secrets: Secrets) -> None:
        """Begin the file anew.

        Raises:
            OSError: If it cannot be written.
        """
        self._file = file
        self._secrets = secrets
        self._log = file.open("wb", buffering=0)
        self._thread: Thread | None = None

    def listen(self, pipe: IO[bytes]) -> None:
        """Write down what comes, until nobody holds the other end."""
        self._thread = Thread(target=self._write, args=[pipe], daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until all is written that was said by who has ended."""
        if self._thread:
            self._thread.join(_PATIENCE)

    @property
    def last_words(self) -> str:
        """The end of it, and where all of it is."""
        with suppress(OSError), self._file.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _END))
            said = file.read().decode("utf-8", "replace").splitlines()
            lines = [line.rstrip()[:_LONGEST] for line in said if line.strip()][-_WORDS:]
            return "".join(f"\n  {line}" for line in lines) + f"\n  (all of it: {self._file})"
        return ""

    def _write(self, pipe: IO[bytes]) -> None:
        rest = b""
        with pipe, self._log:
            while more := os.read(pipe.fileno(), _CHUNK):
                whole, end, rest = (rest + more).rpartition(b"\n")
                self._keep(whole + end)
                if len(rest) > _CHUNK:
                    rest = self._secrets.redacted_bytes(rest)
                    self._keep(rest[:-_KEPT])
                    rest = rest[-_KEPT:]
            self._keep(rest)

    def _keep(self, said: bytes) -> None:
        with suppress(OSError):  # a full disk; who is not listened to any more would wait for ever
            self._log.write(self._secrets.redacted_bytes(said))
