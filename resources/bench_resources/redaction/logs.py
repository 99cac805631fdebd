"""Redaction of secrets in this process's log records, warnings and uncaught exceptions.

All loggers are covered, because libraries quote what they were given: an address with its key, a
header. Changed settings are read again, because a server runs for days.
"""

import logging
import sys
import threading
import traceback
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from bench_assets.core.text.redaction import Secrets
from bench_resources.config.environment import files_with_secrets, known_secrets


class CurrentSecrets:
    """The secrets of homes; their settings are read again after a change."""

    def __init__(self, *homes: Path) -> None:
        self._homes = homes
        self._state: list[tuple[int, int]] | None = None
        self._secrets = Secrets()

    def now(self) -> Secrets:
        """The secrets of the present settings."""
        state = list(map(_state, files_with_secrets(*self._homes)))
        if state != self._state:
            self._state, self._secrets = state, known_secrets(*self._homes)
        return self._secrets


def _state(file: Path) -> tuple[int, int]:
    try:
        stat = file.stat()
    except OSError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_size


def redact_logs(*homes: Path) -> None:
    """Redact secrets in this process's log records."""
    secrets = CurrentSecrets(*homes)

    class Record(logging.LogRecord):
        def __init__(self, *arguments: Any, **more: Any) -> None:  # noqa: ANN401
            super().__init__(*arguments, **more)
            if self.exc_info and self.exc_info[0]:
                written = logging.Formatter().formatException(self.exc_info)
                self.exc_text = secrets.now().redacted(written)

        def getMessage(self) -> str:  # noqa: N802
            return secrets.now().redacted(super().getMessage())

    logging.setLogRecordFactory(Record)


def redact_tracebacks(*homes: Path) -> None:
    """Redact secrets in tracebacks of all threads of this process.

    Hooks for threads and unraisable exceptions that others have set, such as pytest's, stay.
    """
    printed = _RedactingHooks(CurrentSecrets(*homes))
    sys.excepthook, warnings.showwarning = printed.uncaught, printed.warned
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = printed.unraisable
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = printed.in_thread


class _RedactingHooks:
    """Replacements for Python's hooks of exceptions and warnings."""

    def __init__(self, secrets: CurrentSecrets) -> None:
        self._secrets = secrets

    def uncaught(
        self,
        kind: type[BaseException],
        error: BaseException | None,
        trace: TracebackType | None,
        first: str = "",
    ) -> None:
        self._write(first + "".join(traceback.format_exception(kind, error, trace)))

    def in_thread(self, found: threading.ExceptHookArgs) -> None:
        if found.exc_type is not SystemExit:
            name = found.thread.name if found.thread else "?"
            first = f"Exception in thread {name}:\n"
            self.uncaught(found.exc_type, found.exc_value, found.exc_traceback, first)

    def unraisable(self, found: "sys.UnraisableHookArgs") -> None:
        first = f"{found.err_msg or 'Exception ignored in'}: {found.object!r}\n"
        self.uncaught(found.exc_type, found.exc_value, found.exc_traceback, first)

    def warned(
        self, message: Warning | str, category: type[Warning], filename: str, lineno: int,
        file: TextIO | None = None, line: str | None = None,
    ) -> None:  # fmt: skip
        text = warnings.formatwarning(str(message), category, filename, lineno, line)
        self._write(text, file)

    def _write(self, text: str, file: TextIO | None = None) -> None:
        if stream := file or sys.stderr:  # None in a process without a terminal
            stream.write(self._secrets.now().redacted(text))
