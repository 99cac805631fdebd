"""Detects and ends orphaned runs: runs whose process, machine, UI or daemon is gone.

Every run has a tag with its process. Dagster's monitoring asks ``MonitoredRunLauncher`` every 30 s
whether the process still runs; opening a home also ends orphaned runs. Runs on other machines are
checked by their heartbeats; without any, a run is left alone.
"""

import os
import signal
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import dagster as dg
from dagster import raise_execution_interrupts

from bench_resources.config.bench_toml import Settings
from bench_resources.config.stores import open_table_locks
from bench_resources.runs.dagster_instance import heartbeats_of, home_of
from bench_resources.runs.dagster_names import (
    CheckRunHealthResult,
    DagsterUserCodeUnreachableError,
    LaunchRunContext,
    WorkerStatus,
)
from bench_resources.storage.locks import (
    FileLocks,
    Locks,
    LockWait,
    delete_lock_file,
    hold_locks,
    is_lock_free,
)
from bench_resources.storage.process_identity import ProcessIdentity, has_ended, this_process
from bench_resources.tables.parquet import TableIOManager

_PROCESS_TAG = ".dagster/bench_process"  # hidden in the UI, as the next two
_LAUNCHER_TAG = ".dagster/bench_launched_on"  # launching process, until the run records its own
_RUN_TAG = ".dagster/bench_process_of"  # the run that these tags describe: a retry inherits them
_ACTIVE_STATUSES = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def process_tags(run_id: str) -> dict[str, str]:
    """Tags that record this process as that of a run; none without ``/proc``."""
    process = this_process()
    return {_PROCESS_TAG: str(process), _RUN_TAG: run_id} if process else {}


def table_locks(folders: Iterable[str], model: str) -> list[str]:
    """Lock names of one model's tables: one per task and condition."""
    return [f"{model} on {folder}" for folder in sorted(set(folders))]


def run_lock(run_id: str) -> str:
    """Name of the lock that a run's process holds while it lasts."""
    return f"run {run_id}"


def locks_folder(instance: dg.DagsterInstance) -> Path:
    """Folder of the lock files in the home."""
    return home_of(instance) / "locks"


def send_heartbeats(instance: dg.DagsterInstance, run_id: str) -> AbstractContextManager[None]:
    """Send heartbeats of a run to the shared database, if there is one."""
    heartbeats = heartbeats_of(instance)
    return heartbeats.keep_alive(run_id) if heartbeats else nullcontext()


def is_orphaned(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Whether the process of a run has certainly ended."""
    current = this_process()
    if current is None or run.tags.get(_RUN_TAG) != run.run_id:
        return False
    process = ProcessIdentity.parse(run.tags.get(_PROCESS_TAG, ""))
    if process is None:
        return _died_before_start(instance, run, current)
    is_gone, heartbeats = has_ended(process, current), heartbeats_of(instance)
    # Cloned machines have the same name and id: another boot may be that of another machine.
    if heartbeats and (is_gone is None or process.boot != current.boot):
        return heartbeats.is_lost(run.run_id)
    # The process is in another container of this machine.
    if is_gone is None and process.boot == current.boot:
        return is_lock_free(locks_folder(instance), run_lock(run.run_id))
    return bool(is_gone)


def process_health(instance: dg.DagsterInstance, run: dg.DagsterRun) -> CheckRunHealthResult:
    """Health of a run that a command executes in its own process."""
    if is_orphaned(instance, run):
        return CheckRunHealthResult(WorkerStatus.FAILED, "its process is gone")
    return CheckRunHealthResult(WorkerStatus.RUNNING)


def end_orphaned_runs(instance: dg.DagsterInstance) -> list[str]:
    """End the runs whose process is gone or whose job left the queue; returns descriptions.

    They fail, or are cancelled if that was under way, and free their pools. The daemon retries runs
    that it started, see ``run_retries`` in dagster.yaml. A run of a command is not retried.
    """
    descriptions = []
    for run in instance.get_runs(dg.RunsFilter(statuses=_ACTIVE_STATUSES)):
        if not (is_orphaned(instance, run) or _has_left_the_queue(instance, run)):
            continue
        current_run = instance.get_run_by_id(run.run_id)
        if current_run is None or current_run.status != run.status:  # it finished meanwhile
            continue
        reason = "The process of this run is gone: it was killed, or its machine was restarted."
        if run.status == dg.DagsterRunStatus.CANCELING:
            instance.report_run_canceled(run, reason)
        else:
            instance.report_run_failed(run, reason)
        instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
        delete_lock_file(locks_folder(instance), run_lock(run.run_id))
        model = run.tags.get("dagster/partition")
        descriptions.append(f"run {run.run_id[:8]}" + (f" of {model}" if model else ""))
    return descriptions


@runtime_checkable
class _QueueLauncher(Protocol):
    """A run launcher that sends runs to the queue of a cluster."""

    def has_left_the_queue(self, run: dg.DagsterRun) -> bool: ...


def _has_left_the_queue(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Whether the job of a starting run is gone; Dagster would wait until the start timeout."""
    launcher = instance.run_launcher
    return (
        run.status == dg.DagsterRunStatus.STARTING
        and isinstance(launcher, _QueueLauncher)
        and launcher.has_left_the_queue(run)
    )


class MonitoredRunLauncher(dg.DefaultRunLauncher):
    """Dagster's default launcher, with health checks of a run's process; base of the others."""

    def launch_run(self, context: LaunchRunContext) -> None:
        """Start a process on this machine."""
        run_id, current = context.dagster_run.run_id, this_process()
        if current:
            tags = {_PROCESS_TAG: "", _LAUNCHER_TAG: str(current), _RUN_TAG: run_id}
            self._instance.add_run_tags(run_id, tags)
        super().launch_run(context)

    def terminate(self, run_id: str) -> bool:
        """Cancel a run, by a signal to its process if need be; False if it cannot be cancelled."""
        with suppress(DagsterUserCodeUnreachableError):
            if super().terminate(run_id):  # type: ignore[no-untyped-call]
                return True
        run, current = self._instance.get_run_by_id(run_id), this_process()
        if run is None or current is None or run.tags.get(_RUN_TAG) != run_id:
            return False
        process = ProcessIdentity.parse(run.tags.get(_PROCESS_TAG, ""))
        if process is None or has_ended(process, current) is not False:
            return False
        os.kill(process.pid, signal.SIGINT)
        return True

    @property
    def supports_check_run_worker_health(self) -> bool:
        """True: health checks are supported."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Health of a run's process."""
        return process_health(self._instance, run)


@contextmanager
def guard_run(
    instance: dg.DagsterInstance, run: dg.DagsterRun, tables: Callable[[], Locks] | None = None
) -> Generator[None]:
    """Record the run's process, lock the tables that it makes, and send its heartbeats.

    A run that already has the tag of this process, such as the run of a command, is guarded by its
    caller. ``tables`` opens the locks of tables, by default those of the home.
    """
    if run.tags.get(_RUN_TAG) == run.run_id and run.tags.get(_PROCESS_TAG) == str(this_process()):
        yield
        return
    instance.add_run_tags(run.run_id, process_tags(run.run_id))
    locks, lock = locks_folder(instance), run_lock(run.run_id)
    model = run.tags.get("dagster/partition")

    def report_wait(wait: LockWait) -> None:
        instance.report_engine_event(str(wait), dagster_run=run)

    with ExitStack() as stack:
        stack.callback(delete_lock_file, locks, lock)  # after its release
        with raise_execution_interrupts():  # a run that waits can be cancelled
            stack.enter_context(hold_locks(locks, [lock], report_wait))
            folders = _folders(instance, run) if model else ()
            if model and folders:
                locks_of_tables = tables() if tables else FileLocks(locks)
                stack.enter_context(locks_of_tables.held(table_locks(folders, model), report_wait))
        stack.enter_context(send_heartbeats(instance, run.run_id))
        yield


class RunTableIOManager(TableIOManager):
    """A ``TableIOManager`` that locks a model's tables from the start of a run to its end."""

    settings: dg.ResourceDependency[Settings]

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Generator[Any]:
        """Guard the run while it stores tables; outside of a run, nothing is locked."""
        if context.run is None or context.instance is None or not context.instance.is_persistent:
            yield self
            return
        with guard_run(context.instance, context.run, lambda: open_table_locks(self.settings)):
            yield self


def _folders(instance: dg.DagsterInstance, run: dg.DagsterRun) -> set[str]:
    """Folders of the tables that a run makes, one per task and condition."""
    steps = run.step_keys_to_execute
    if steps is None and run.execution_plan_snapshot_id:
        plan = instance.get_execution_plan_snapshot(run.execution_plan_snapshot_id)
        steps = plan.step_keys_to_execute
    return {step.rpartition("__")[0].replace("__", "/") for step in steps or ()}


def _died_before_start(
    instance: dg.DagsterInstance, run: dg.DagsterRun, current: ProcessIdentity
) -> bool:
    """Whether a started run ended before it recorded its process.

    A run records its process within milliseconds of its first step. One that has not done so after
    Dagster's timeout for starting has ended.
    """
    launcher = ProcessIdentity.parse(run.tags.get(_LAUNCHER_TAG, ""))
    record = instance.get_run_record_by_id(run.run_id)
    if launcher is None or launcher.host != current.host or record is None:
        return False
    if launcher.boot != current.boot:
        return heartbeats_of(instance) is None  # else it may be a clone of this machine
    if run.status == dg.DagsterRunStatus.STARTING:
        return False  # Dagster's run monitoring fails it after start_timeout_seconds
    if record.start_time is None:
        return False
    return time.time() - record.start_time > instance.run_monitoring_start_timeout_seconds
