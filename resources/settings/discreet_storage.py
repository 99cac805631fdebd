"""Dagster's own SQLite storage, that is told no secrets.

Whatever an asset, a check or a sensor says (metadata, logs, errors with all their causes) goes
through here on its way to the databases.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from dagster import EventLogEntry
from dagster._core.scheduler.instigation import InstigatorTick, TickData
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData, deserialize_value, serialize_value

from resources.home.run_origins import Runs
from resources.settings.current_secrets import CurrentSecrets
from resources.settings.discreet_logs import let_logs_tell_no_secrets
from resources.settings.discreet_tracebacks import let_tracebacks_tell_no_secrets

Stored = TypeVar("Stored", EventLogEntry, TickData)


class DiscreetStorage(DagsterSqliteStorage):
    """What ``dagster.yaml`` of a home folder names; its ``base_dir`` is ``home/dagster``."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        door = _Door(Path(base_dir).parent)
        self._run_storage = Runs(self._run_storage._conn_string)
        self._event_log_storage = _Events(str(Path(base_dir, "history", "runs", "")), door)
        made = SqliteScheduleStorage.from_local(str(Path(base_dir, "schedules")))
        self._schedule_storage = _Ticks(made._conn_string, door)

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]
    ) -> "DiscreetStorage":
        """Open the storage as ``dagster.yaml`` says; the process prints no secrets from now on.

        Dagster's daemon and web server come through here as well, and load nothing else of ours.
        """
        home = Path(config_value["base_dir"]).parent
        let_logs_tell_no_secrets(home)
        let_tracebacks_tell_no_secrets(home)
        return cls.from_local(config_value["base_dir"], inst_data)


class _Door:
    """Lets through what tells no secret of a home folder."""

    def __init__(self, home: Path) -> None:
        self._secrets = CurrentSecrets(home)

    def passed(self, value: Stored) -> Stored:
        secrets, written = self._secrets.now(), serialize_value(value)
        if not secrets or secrets.redacted(written) == written:
            return value
        # Piece by piece: a quotation mark that belongs to a key may also be one of JSON's.
        told = json.dumps(secrets.redacted_value(json.loads(written)))
        return deserialize_value(told, type(value))


class _Events(SqliteEventLogStorage):
    def __init__(self, base_dir: str, door: _Door) -> None:
        super().__init__(base_dir)
        self._door = door

    def store_event(self, event: EventLogEntry) -> None:
        super().store_event(self._door.passed(event))


class _Ticks(SqliteScheduleStorage):
    def __init__(self, conn_string: str, door: _Door) -> None:
        super().__init__(conn_string)
        self._door = door

    def create_tick(self, tick_data: TickData) -> InstigatorTick:
        return super().create_tick(self._door.passed(tick_data))

    def update_tick(self, tick: InstigatorTick) -> InstigatorTick:
        return super().update_tick(tick._replace(tick_data=self._door.passed(tick.tick_data)))
