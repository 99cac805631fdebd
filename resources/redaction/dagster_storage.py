"""Dagster's SQLite storage with redaction.

Whatever an asset, a check or a sensor says (metadata, logs, errors with all their causes) goes
through here on its way to the databases.

The door to Dagster's records, through which no secret of a home folder goes.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from dagster import EventLogEntry, Field, StringSource, deserialize_value, serialize_value
from dagster._config.config_schema import UserConfigSchema
from dagster._core.scheduler.instigation import InstigatorTick, TickData
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData

from resources.redaction.logs import CurrentSecrets, redact_logs, redact_tracebacks
from resources.runs.in_process_runs import OriginRunStorage

Stored = TypeVar("Stored", EventLogEntry, TickData)


class RecordRedactor:
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


class RedactingSqliteStorage(DagsterSqliteStorage):
    """What ``dagster.yaml`` of a home folder names; its ``base_dir`` is ``home/dagster``."""

    def __init__(
        self,
        base_dir: str,
        inst_data: ConfigurableClassData | None = None,
        pool_of: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(base_dir, inst_data)
        door = RecordRedactor(Path(base_dir).parent)
        self._run_storage = OriginRunStorage(self._run_storage._conn_string, pool_of)
        self._event_log_storage = _SqliteEvents(str(Path(base_dir, "history", "runs", "")), door)
        made = SqliteScheduleStorage.from_local(str(Path(base_dir, "schedules")))
        self._schedule_storage = _SqliteTicks(made._conn_string, door)

    @classmethod
    def config_type(cls) -> UserConfigSchema:
        """What ``dagster.yaml`` says of it."""
        return {"base_dir": StringSource, "pool_of": Field({str: str}, is_required=False)}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]
    ) -> "RedactingSqliteStorage":
        """Open the storage as ``dagster.yaml`` says; the process prints no secrets from now on.

        Dagster's daemon and web server come through here as well, and load nothing else of ours.
        """
        home = Path(config_value["base_dir"]).parent
        redact_logs(home)
        redact_tracebacks(home)
        Path(config_value["base_dir"]).mkdir(parents=True, exist_ok=True)
        return cls(config_value["base_dir"], inst_data, config_value.get("pool_of"))


class _SqliteEvents(SqliteEventLogStorage):
    def __init__(self, base_dir: str, door: RecordRedactor) -> None:
        super().__init__(base_dir)
        self._door = door

    def store_event(self, event: EventLogEntry) -> None:
        super().store_event(self._door.passed(event))


class _SqliteTicks(SqliteScheduleStorage):
    def __init__(self, conn_string: str, door: RecordRedactor) -> None:
        super().__init__(conn_string)
        self._door = door

    def create_tick(self, tick_data: TickData) -> InstigatorTick:
        return super().create_tick(self._door.passed(tick_data))

    def update_tick(self, tick: InstigatorTick) -> InstigatorTick:
        return super().update_tick(tick._replace(tick_data=self._door.passed(tick.tick_data)))
