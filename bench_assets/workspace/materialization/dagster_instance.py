"""The Dagster instance of a home, its in-process runs, and their error messages."""

import re
import signal
import sys
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, TextIO, cast
from uuid import uuid4

import dagster as dg
from dagster import DagsterExecutionInterruptedError, DagsterInvalidConfigError

from bench_assets.asset_factory.suite_assets import range_tags
from bench_assets.core.schema.errors import HomeError, SettingsError
from bench_assets.workspace.console.output import print_message
from bench_assets.workspace.console.progress import materialization_progress
from bench_assets.workspace.materialization.dagster_config import site_file, write_dagster_yaml
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.models.registry.named_models import model_pools
from bench_resources.response_cache.throughput import ProgressStyle
from bench_resources.runs.dagster_instance import pools_of
from bench_resources.runs.damaged_records import damaged_records_reporting
from bench_resources.runs.failures import describe_failure, run_errors
from bench_resources.runs.orphaned_runs import (
    end_orphaned_runs,
    process_tags,
    run_lock,
    send_heartbeats,
)
from bench_resources.runs.run_pools import LOCATION, asset_pool_limits, pool_tags
from bench_resources.storage.locks import delete_lock_file, hold_locks
from bench_resources.storage.sqlite import create_by_umask, hold_open

if TYPE_CHECKING:
    from sqlalchemy.exc import DatabaseError


_UNWRITTEN = (
    "Exception while writing logger call to event log",
    "Exception while storing event batch",
    "Falling back to storing multiple single-event",
)
"""Beginnings of Dagster's messages about events that it cannot write."""

_DATABASES = "Dagster's databases"
# In a database URL, SQLAlchemy interprets "?" and "%"; lone surrogates are not valid UTF-8.
_NOT_IN_ADDRESS = re.compile(r"\?|%[0-9A-Fa-f]{2}|[\ud800-\udfff]")


def open_instance(home: Path, settings: Settings | None = None) -> dg.DagsterInstance:
    """Open the Dagster instance in ``home/dagster``; created on the first call.

    Orphaned runs are ended, so that they release their pools. Without settings, those of the home
    are read.

    Raises:
        SettingsError: If ``bench.toml`` or ``dagster.site.yaml`` of the home is invalid.
        HomeError: If Dagster cannot write its databases there.
    """
    settings = settings or load_settings(home)
    folder = home / "dagster"
    if unusable := _NOT_IN_ADDRESS.search(str(folder)):
        raise HomeError(
            f"{home}: Dagster cannot store its databases in a path with {unusable[0]!r}. Set"
            " BENCH_HOME to another folder"
        )
    # Two processes that create the databases at the same time fail on each other's tables.
    with storage_error_reporting(folder), hold_locks(home / "locks", [_DATABASES], lambda _: None):
        folder.mkdir(parents=True, exist_ok=True)
        create_by_umask()
        write_dagster_yaml(folder, settings)
        instance = _load_instance(folder, settings)
        pools = model_pools(settings)
        _limit_pools(folder, instance, asset_pool_limits(pools, settings.cluster.limits))
        for run in end_orphaned_runs(instance):
            print_message(f"{run} was killed; it is now marked as failed")
    return instance


def _load_instance(folder: Path, settings: Settings) -> dg.DagsterInstance:
    """Load the instance; only ``dagster.site.yaml`` can make its configuration invalid."""
    try:
        return dg.DagsterInstance.from_config(str(folder))
    except DagsterInvalidConfigError as exc:
        file = site_file(settings)
        if not file.exists():
            raise
        message = " ".join(error.message for error in exc.errors) or " ".join(str(exc).split())
        raise SettingsError(f"{file}: {message}") from None


def _limit_pools(folder: Path, instance: dg.DagsterInstance, limits: Mapping[str, int]) -> None:
    """Set the limit of each pool, because with a default limit the first two runs overlap."""
    from sqlalchemy.exc import IntegrityError

    with damaged_records_reporting(folder):
        pools = instance.event_log_storage.get_pool_limits()
    existing = {pool.name: pool.limit for pool in pools if not pool.from_default}
    for pool, limit in limits.items():
        if existing.get(pool) != limit:
            try:
                instance.event_log_storage.set_concurrency_slots(pool, limit)
            except IntegrityError:  # another process added the row in between
                instance.event_log_storage.set_concurrency_slots(pool, limit)


@contextmanager
def storage_error_reporting(folder: Path) -> Generator[None]:
    """Report failures of Dagster's storage as one message; warns of lost lines of the log.

    Raises:
        HomeError: For a full disk, a read-only folder, or a damaged database.
    """
    filtered = _FilteredStderr(sys.stderr)
    try:
        with redirect_stderr(cast(TextIO, filtered)):
            yield
    except OSError as error:
        raise HomeError(f"{error.filename or folder}: {error.strerror or error}") from error
    except _database_error() as error:
        raise HomeError(
            f"{folder}: Dagster's records cannot be written or read ({error.orig})."
            " Is the disk full or read-only? `bench home verify` names damaged files."
            " Responses are kept"
        ) from error
    if filtered.unwritten:
        print_message(
            f"warning: {folder}: lines of the run's log that were not written: {filtered.unwritten}"
        )


def _database_error() -> "type[DatabaseError]":
    """The type of database errors, imported only when an exception is raised."""
    from sqlalchemy.exc import DatabaseError

    return DatabaseError


class _FilteredStderr:
    """Standard error without Dagster's tracebacks of events that cannot be written.

    The run itself also ends with an error message.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.unwritten = 0

    def write(self, text: str) -> int:
        if not text.startswith(_UNWRITTEN):
            return self._stream.write(text)
        if text.startswith(_UNWRITTEN[0]):  # the first message of an event
            self.unwritten += 1
        return len(text)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a stream has
        return getattr(self._stream, name)


_QUIET_RUN_CONFIG = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
_NAME_TAG = "bench/run"  # tag with a readable name, since all runs have the same job
_REPOSITORY_TAG = ".dagster/repository"  # tag by which the UI's timeline finds runs
_INTERRUPTIONS = (KeyboardInterrupt.__name__, DagsterExecutionInterruptedError.__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssetRun:
    """Assets to materialize in one run, with their checks."""

    job: dg.JobDefinition
    keys: Sequence[dg.AssetKey]
    model: str | None  # the partition
    title: str  # title of the progress display; "": show none
    progress: ProgressStyle = "in the log"
    parts: Sequence[str] = ()  # neighbouring partitions of raw data sets

    def execute(self, instance: dg.DagsterInstance, locks: Path) -> None:
        """Materialize the assets in this process.

        Args:
            instance: Dagster instance that records the run.
            locks: Folder of the home's locks.

        Raises:
            BenchError: The error of an asset, or a ``RunError`` that names the failed check.
            KeyboardInterrupt: If it was interrupted.
        """
        run_id = str(uuid4())
        with (
            hold_locks(locks, [run_lock(run_id)], print_message),
            hold_open(locks.parent / "dagster"),
            send_heartbeats(instance, run_id),
        ):
            self._execute(instance, run_id)
        delete_lock_file(locks, run_lock(run_id))

    def _execute(self, instance: dg.DagsterInstance, run_id: str) -> None:
        """Run the job; raises the error of a failed or interrupted run."""
        try:
            with (
                _restored_sigterm_handler(),
                materialization_progress(
                    instance, run_id, self.title, len(self.keys), self.progress
                ),
                warnings.catch_warnings(),
            ):
                # raised at the end of a run within a notebook's event loop
                warnings.filterwarnings("ignore", "coroutine .*shutdown_asyncgens", RuntimeWarning)
                result = self.job.execute_in_process(
                    instance=instance,
                    partition_key=self.model,
                    asset_selection=self.keys,
                    run_config=_QUIET_RUN_CONFIG,
                    raise_on_error=False,
                    run_id=run_id,
                    tags=self._tags(instance, run_id),
                )
        except DagsterExecutionInterruptedError:
            raise KeyboardInterrupt from None
        if _was_interrupted(result):
            raise KeyboardInterrupt
        if not result.success:
            raise describe_failure(result.all_events)

    def _tags(self, instance: dg.DagsterInstance, run_id: str) -> dict[str, str]:
        return {
            **process_tags(run_id),
            **pool_tags(self.model or "", pools_of(instance)),
            _NAME_TAG: run_name(self.keys, self.model),
            _REPOSITORY_TAG: f"__repository__@{LOCATION}",
            **range_tags(self.parts),
        }


@contextmanager
def _restored_sigterm_handler() -> Generator[None]:
    """Restore the handler of SIGTERM after the block; Dagster replaces it by that of SIGINT.

    A shell's background jobs ignore SIGINT; they and their children would then ignore both.
    """
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if current_thread() is main_thread():
            signal.signal(signal.SIGTERM, handler)


def run_name(keys: Iterable[dg.AssetKey], model: str | None) -> str:
    """Name of a run: its selection and model.

    >>> run_name([dg.AssetKey(["codis", "scores"]), dg.AssetKey(["codis", "metrics"])], "random")
    'codis: random'
    >>> run_name([dg.AssetKey("leaderboard")], None)
    'leaderboard'
    """
    folders = ", ".join(sorted({key.path[0] for key in keys}))
    return f"{folders}: {model}" if model else folders


def _was_interrupted(result: dg.ExecuteInProcessResult) -> bool:
    """Whether a signal ended the run, which Dagster reports as a failed step."""
    errors = run_errors(result.all_events)
    return any(error.cls_name in _INTERRUPTIONS for _, error in errors)
