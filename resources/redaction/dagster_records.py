"""The door to Dagster's records, through which no secret of a home folder goes."""

import json
from pathlib import Path
from typing import TypeVar

from dagster import EventLogEntry
from dagster._core.scheduler.instigation import TickData
from dagster._serdes import deserialize_value, serialize_value

from resources.redaction.current_secrets import CurrentSecrets

Stored = TypeVar("Stored", EventLogEntry, TickData)


class RedactedRecords:
    """Lets through what tells no secret of home folders."""

    def __init__(self, *homes: Path) -> None:
        self._secrets = CurrentSecrets(*homes)

    def passed(self, value: Stored) -> Stored:
        """A value as it may be recorded."""
        secrets, written = self._secrets.now(), serialize_value(value)
        if not secrets or secrets.redacted(written) == written:
            return value
        # Piece by piece: a quotation mark that belongs to a key may also be one of JSON's.
        told = json.dumps(secrets.redacted_value(json.loads(written)))
        return deserialize_value(told, type(value))
