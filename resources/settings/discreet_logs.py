"""Logs that tell no secrets: every record of every logger, of ours, Dagster's and libraries'."""

import logging
from pathlib import Path
from typing import Any

from resources.settings.current_secrets import CurrentSecrets


def let_logs_tell_no_secrets(*homes: Path) -> None:
    """Have this process make its records so that ``***`` stands where a secret would be printed."""
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
