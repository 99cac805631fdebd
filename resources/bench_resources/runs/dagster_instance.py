"""Dagster's instance of a home folder, which redacts secrets before they are recorded.

Metadata, log lines and errors with all their causes pass through here on their way to Dagster's
databases. ``dagster.yaml`` of a home names the class.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import dagster as dg

from bench_assets.features import hook_of
from bench_resources.config.environment import local_home, read_secret
from bench_resources.redaction.logs import CurrentSecrets, redact_logs, redact_stderr
from bench_resources.redaction.records import Record, redact_record
from bench_resources.runs.dagster_names import InstanceRef
from bench_resources.storage.sqlite import create_by_umask

if TYPE_CHECKING:
    from bench_resources.cluster.heartbeats import Heartbeats


class HomeConfig(TypedDict):
    """The entry ``bench`` of ``dagster.yaml``."""

    folder: str  # home/dagster
    database: NotRequired[str]  # environment variable with the address of a shared PostgreSQL
    pool_of: NotRequired[Mapping[str, str]]  # model, or pattern of models -> pool of its runs


class HomeInstance(dg.DagsterInstance):
    """A ``DagsterInstance`` that redacts events and ticks, and has the pools of models."""

    def __init__(self, bench: HomeConfig, **arguments: Any) -> None:  # noqa: ANN401 - Dagster's
        """Open the instance, and redact secrets in this process's output from now on.

        This covers Dagster's daemon and web server too, which load no other code of ours.
        """
        self._database = bench.get("database", "")
        self.pool_of = bench.get("pool_of", {})
        configured_home = Path(bench["folder"]).parent
        home = local_home(configured_home) if self._database else configured_home
        homes = dict.fromkeys((home, configured_home))
        create_by_umask()
        redact_logs(*homes)
        redact_stderr(*homes)
        self._current_secrets = CurrentSecrets(*homes)
        if self._database:  # a run of another machine keeps its files in this machine's home
            files = arguments["local_artifact_storage"]
            arguments["local_artifact_storage"] = type(files)(str(home / "dagster"))
        super().__init__(**arguments)

    @classmethod
    def config_schema(cls) -> dict[str, Any]:
        """Entries of ``dagster.yaml`` beside Dagster's own."""
        entry = {
            "folder": str,
            "database": dg.Field(str, is_required=False),
            "pool_of": dg.Field({str: str}, is_required=False),
        }
        return {"bench": dg.Field(entry)}

    @staticmethod
    def config_defaults(base_dir: str) -> Mapping[str, Any]:
        """Dagster's defaults for missing entries of ``dagster.yaml``."""
        return InstanceRef.config_defaults(base_dir)

    @cached_property
    def heartbeats(self) -> "Heartbeats | None":
        """Heartbeats of runs, if several machines share a database."""
        if not self._database:
            return None
        open_heartbeats = hook_of("heartbeats", "[storage] database")
        heartbeats: Heartbeats = open_heartbeats(read_secret(self._database), self._database)
        return heartbeats

    def store_event(self, event: dg.EventLogEntry) -> None:
        """Record an event."""
        super().store_event(self._redact(_with_root_message(event)))

    def handle_new_event(self, event: dg.EventLogEntry, **arguments: Any) -> None:  # noqa: ANN401
        """Record an event, and notify its subscribers."""
        super().handle_new_event(self._redact(_with_root_message(event)), **arguments)

    def create_tick(self, tick_data: Any) -> Any:  # noqa: ANN401 - Dagster's private types
        """Record the beginning of a tick."""
        return super().create_tick(self._redact(tick_data))

    def update_tick(self, tick: Any) -> Any:  # noqa: ANN401
        """Record the progress of a tick."""
        return super().update_tick(tick._replace(tick_data=self._redact(tick.tick_data)))

    def _redact(self, record: Record) -> Record:
        return redact_record(record, self._current_secrets.now())


def home_of(instance: dg.DagsterInstance) -> Path:
    """Home folder of an instance, whose own folder is ``dagster`` in it."""
    return Path(instance.root_directory).parent


def pools_of(instance: dg.DagsterInstance) -> Mapping[str, str]:
    """Pools of runs by model or pattern; none without a home, as in tests."""
    return instance.pool_of if isinstance(instance, HomeInstance) else {}


def heartbeats_of(instance: dg.DagsterInstance) -> "Heartbeats | None":
    """Heartbeats of runs, if the instance shares a database with other machines."""
    return instance.heartbeats if isinstance(instance, HomeInstance) else None


def _with_root_message(event: dg.EventLogEntry) -> dg.EventLogEntry:
    """Begin a failure with the error that was raised, not with Dagster's text that there is one."""
    recorded = event.dagster_event
    data: Any = recorded.event_specific_data if recorded else None
    error: Any = getattr(data, "error", None)
    root = error
    while root and (root.cls_name or "").startswith("Dagster") and root.cause:
        root = root.cause
    if recorded is None or root is error:
        return event
    data = data._replace(error=error._replace(message=root.message))
    return event._replace(dagster_event=recorded._replace(event_specific_data=data))
