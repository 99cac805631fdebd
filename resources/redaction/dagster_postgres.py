"""Dagster's PostgreSQL storage with redaction.

Its configuration has the NAME of an environment variable, and never an address: launchers put it
on command lines, where others can read it. Imported only where ``dagster.yaml`` names it.
"""

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from dagster import DagsterRun, EventLogEntry, Field, StringSource
from dagster._config.config_schema import UserConfigSchema
from dagster._core.scheduler.instigation import InstigatorTick, TickData
from dagster._core.storage.root import LocalArtifactStorage
from dagster._serdes import ConfigurableClassData
from dagster_postgres.event_log import PostgresEventLogStorage
from dagster_postgres.run_storage import PostgresRunStorage
from dagster_postgres.schedule_storage import PostgresScheduleStorage
from dagster_postgres.storage import DagsterPostgresStorage
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from resources.config.environment import local_home, read_secret
from resources.redaction.dagster_storage import RecordRedactor
from resources.redaction.logs import redact_logs, redact_tracebacks
from resources.runs.heartbeats import Heartbeats
from resources.runs.in_process_runs import with_origin
from resources.storage.postgres import PATIENCE, Database

Result = TypeVar("Result")

_AT_FIRST = 10.0  # s that a database may be away when a process begins: a wrong one is told soon
_BETWEEN = 0.5  # s between two attempts
_TABLES = ("runs", "event_logs", "instigators")  # one of each part
_MAKING = 0x646167737465  # "dagste": who makes tables holds this lock


class RedactingPostgresStorage(DagsterPostgresStorage):  # type: ignore[misc]
    """What ``dagster.yaml`` names where homes record in common."""

    def __init__(
        self,
        variable: str,
        homes: Iterable[Path],
        pool_of: Mapping[str, str],
        inst_data: ConfigurableClassData | None = None,
    ) -> None:
        """Open it; its tables are made where there are none.

        Args:
            variable: The environment variable with the address, as libpq takes it.
            homes: What bench.toml names there must not be told.
            pool_of: Model, or pattern of models -> the pool that its runs hold.
            inst_data: As Dagster rebuilds it elsewhere.

        Raises:
            SettingsError: If the variable holds no address of a PostgreSQL.
            HomeError: If the database cannot be used.
        """
        address = read_secret(variable)
        url, door = f"postgresql+psycopg2://?dsn={quote(address, safe='')}", RecordRedactor(*homes)
        self.postgres_url, self.should_autocreate_tables = url, True
        self._inst_data = inst_data

        def make() -> None:
            self._run_storage = _PostgresRuns(url, pool_of, Heartbeats(address, variable))
            self._event_log_storage = _PostgresEvents(url, door)
            self._schedule_storage = _PostgresTicks(url, door)

        _create_once(Database(address, variable), make)
        super(DagsterPostgresStorage, self).__init__()

    @classmethod
    def config_type(cls) -> UserConfigSchema:
        """What ``dagster.yaml`` says of it."""
        return {
            "variable": str,
            "base_dir": StringSource,
            "pool_of": Field({str: str}, is_required=False),
        }

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "RedactingPostgresStorage":
        """Open the storage as ``dagster.yaml`` says; the process prints no secrets from now on."""
        written = Path(config_value["base_dir"]).parent
        # of one that is opened beside another
        homes = dict.fromkeys((local_home(written), written))
        redact_logs(*homes)
        redact_tracebacks(*homes)
        return cls(config_value["variable"], homes, config_value.get("pool_of", {}), inst_data)


class LocalHomeArtifacts(LocalArtifactStorage):
    """Where Dagster's files lie: in this machine's home, whichever machine has started a run."""

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "LocalHomeArtifacts":
        """Find it."""
        home = local_home(Path(config_value["base_dir"]).parent)
        return cls(str(home / "dagster"), inst_data)


class _PostgresRuns(PostgresRunStorage):  # type: ignore[misc]
    def __init__(self, url: str, pool_of: Mapping[str, str], heartbeats: Heartbeats) -> None:
        super().__init__(url)
        self._pool_of = pool_of
        self.heartbeats = heartbeats  # which tell of runs on other machines

    def connect(self) -> Any:  # noqa: ANN401 - a connection, as a context
        return _connected(self._engine)

    def add_run(self, dagster_run: DagsterRun) -> DagsterRun:
        kept: DagsterRun = super().add_run(with_origin(dagster_run, self._pool_of))
        return kept


class _PostgresEvents(PostgresEventLogStorage):  # type: ignore[misc]
    def __init__(self, url: str, door: RecordRedactor) -> None:
        super().__init__(url)
        self._door = door

    def _connect(self) -> Any:  # noqa: ANN401 - a connection, as a context
        return _connected(self._engine)

    def store_event(self, event: EventLogEntry) -> None:
        told = self._door.passed(event)
        _again_if_broken(lambda: super(_PostgresEvents, self).store_event(told))

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        told = [self._door.passed(event) for event in events]
        _again_if_broken(lambda: super(_PostgresEvents, self).store_event_batch(told))


class _PostgresTicks(PostgresScheduleStorage):  # type: ignore[misc]
    def __init__(self, url: str, door: RecordRedactor) -> None:
        super().__init__(url)
        self._door = door

    def connect(self, run_id: str | None = None) -> Any:  # noqa: ANN401 - as Dagster has it
        return _connected(self._engine)

    def create_tick(self, tick_data: TickData) -> InstigatorTick:
        made: InstigatorTick = super().create_tick(self._door.passed(tick_data))
        return made

    def update_tick(self, tick: InstigatorTick) -> InstigatorTick:
        told = tick._replace(tick_data=self._door.passed(tick.tick_data))
        made: InstigatorTick = super().update_tick(told)
        return made


def _create_once(database: Database, make: Callable[[], None]) -> None:
    """Open what makes its tables itself where there are none: two at once trip over each other.

    Raises:
        HomeError: If the database cannot be used.
    """

    def look(db: Any) -> bool:  # noqa: ANN401 - a connection of psycopg
        found = db.execute(
            "SELECT count(*) AS n FROM unnest(%s::text[]) AS t(name)"
            " WHERE to_regclass(name) IS NOT NULL",
            (list(_TABLES),),
        )
        return bool(found.fetchone()["n"] == len(_TABLES))

    def alone(db: Any) -> None:  # noqa: ANN401
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
        make()

    if database.run(look, _AT_FIRST):
        make()
    else:
        database.run(alone, _AT_FIRST)


@contextmanager
def _connected(engine: Engine) -> Generator[Connection]:
    """A connection; a database that is away is waited for, as it may be starting anew."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection = engine.connect()
            break
        except OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(_BETWEEN)
    try:
        yield connection
    finally:
        connection.close()


def _again_if_broken(store: Callable[[], Result]) -> Result:
    """Store once more what a connection took with it that broke.

    Where the database had it and could not say so any more, it has it twice: a line of a log.
    """
    try:
        return store()
    except OperationalError as why:
        if not why.connection_invalidated:
            raise
    return store()
