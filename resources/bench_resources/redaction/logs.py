"""Redaction of secrets in this process's log records and on its standard error.

All loggers are covered, because libraries quote what they were given: an address with its key, a
header. Changed settings are read again, because a server runs for days.
"""

import logging
import sys
from pathlib import Path
from typing import Any, TextIO

from bench_assets.core.text.redaction import Secrets
from bench_resources.config.environment import files_with_secrets, known_secrets
from bench_resources.storage.file_digests import FileState, file_state


class CurrentSecrets:
    """The secrets of homes, whose settings are read again after a change."""

    def __init__(self, *homes: Path) -> None:
        self._homes = homes
        self._state: list[FileState] | None = None
        self._secrets = Secrets()

    def now(self) -> Secrets:
        """The secrets of the present settings."""
        state = list(map(file_state, files_with_secrets(*self._homes)))
        if state != self._state:
            self._state, self._secrets = state, known_secrets(*self._homes)
        return self._secrets


def redact_logs(*homes: Path) -> None:
    """Redact secrets in the log records that this process makes from now on."""
    secrets = CurrentSecrets(*homes)

    class RedactedRecord(logging.LogRecord):
        def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
            super().__init__(*args, **kwargs)
            if self.exc_info and self.exc_info[0]:
                traceback = logging.Formatter().formatException(self.exc_info)
                self.exc_text = secrets.now().redacted(traceback)

        def getMessage(self) -> str:  # noqa: N802
            return secrets.now().redacted(super().getMessage())

    logging.setLogRecordFactory(RedactedRecord)


def redact_stderr(*homes: Path) -> None:
    """Redact secrets in what is written to standard error from now on; without one, do nothing."""
    if sys.stderr is not None and not isinstance(sys.stderr, _RedactedStream):
        sys.stderr = _RedactedStream(sys.stderr, CurrentSecrets(*homes))


class _RedactedStream:
    def __init__(self, stream: TextIO, secrets: CurrentSecrets) -> None:
        self._stream = stream
        self._secrets = secrets

    def write(self, text: str) -> int:
        return self._stream.write(self._secrets.now().redacted(text))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._stream, name)
