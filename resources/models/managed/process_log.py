"""Process log, redacted."""

import os
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

from bench_assets.core.text.redaction import Secrets

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
