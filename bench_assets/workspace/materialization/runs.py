"""One run in this process: recorded in a Dagster instance, named, and over when it says so."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import dagster as dg
from dagster._core.errors import DagsterExecutionInterruptedError

from bench_assets.workspace.console.output import say
from bench_assets.workspace.console.progress import materializing
from bench_assets.workspace.materialization.dagster_instance import failure_of
from resources.response_cache.throughput import Shown
from resources.runs.orphaned_runs import beating, process_tags, run_lock
from resources.storage.locks.file_locks import forget, locked

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
_ABOUT = "bench/run"  # tag by which a person knows it: the job of all of them has one name
_INTERRUPTIONS = (KeyboardInterrupt.__name__, DagsterExecutionInterruptedError.__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Assets to be made together, with their checks."""

    job: dg.JobDefinition
    keys: Sequence[dg.AssetKey]
    model: str | None  # the partition
    title: str  # of what is shown of it; "" for nothing
    progress: Shown = "in the log"

    def execute(self, instance: dg.DagsterInstance, locks: Path | None) -> None:
        """Make them.

        Args:
            instance: Records it.
            locks: Folder of the home's locks; None if nobody else sees the instance.

        Raises:
            BenchError: What an asset raised, or a ``RunError`` that tells which check failed.
            KeyboardInterrupt: If it was interrupted.
        """
        run_id = str(uuid4())
        if locks is None:
            self._execute(instance, run_id)
            return
        with locked(locks, [run_lock(run_id)], say), beating(instance, run_id):
            self._execute(instance, run_id)
        forget(locks, run_lock(run_id))

    def _execute(self, instance: dg.DagsterInstance, run_id: str) -> None:
        try:
            with materializing(instance, run_id, self.title, len(self.keys), self.progress):
                result = self.job.execute_in_process(
                    instance=instance,
                    partition_key=self.model,
                    asset_selection=self.keys,
                    run_config=_QUIET,
                    raise_on_error=False,
                    run_id=run_id,
                    tags=process_tags(run_id) | {_ABOUT: run_name(self.keys, self.model)},
                )
        except DagsterExecutionInterruptedError:
            raise KeyboardInterrupt from None
        if _was_interrupted(result):
            raise KeyboardInterrupt
        if not result.success:
            raise failure_of(result)


def run_name(keys: Iterable[dg.AssetKey], model: str | None) -> str:
    """Say what a run makes, and of which model.

    >>> run_name([dg.AssetKey(["codis", "scores"]), dg.AssetKey(["codis", "metrics"])], "random")
    'codis: random'
    >>> run_name([dg.AssetKey("leaderboard")], None)
    'leaderboard'
    """
    places = ", ".join(sorted({key.path[0] for key in keys}))
    return f"{places}: {model}" if model else places


def _was_interrupted(result: dg.ExecuteInProcessResult) -> bool:
    """Whether a signal ended it: Dagster makes a failure of that, such as an asset's."""
    errors = [
        *(event.step_failure_data.error for event in result.all_events if event.is_step_failure),
        *(event.job_failure_data.error for event in result.all_events if event.is_run_failure),
    ]
    return any(error and error.cls_name in _INTERRUPTIONS for error in errors)
