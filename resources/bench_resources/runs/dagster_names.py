"""The only module that imports private names of Dagster.

* ``LaunchRunContext``, ``CheckRunHealthResult``, ``WorkerStatus``: argument and results of a run
  launcher; Dagster's own launchers in other packages import them from the same module.
* ``ExecuteRunArgs``: the command line of a run that is started on another machine.
* ``DagsterUserCodeUnreachableError``: a code server that is gone, when a run is cancelled.
* ``InstanceRef``: defaults that a ``DagsterInstance`` subclass in ``dagster.yaml`` has to provide.
* ``event_file``: the file with the events of a run.
"""

import dagster as dg
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.instance.ref import InstanceRef
from dagster._core.launcher import CheckRunHealthResult, LaunchRunContext, WorkerStatus
from dagster._grpc.types import ExecuteRunArgs

__all__ = [
    "CheckRunHealthResult",
    "DagsterUserCodeUnreachableError",
    "ExecuteRunArgs",
    "InstanceRef",
    "LaunchRunContext",
    "WorkerStatus",
    "event_file",
]


def event_file(instance: dg.DagsterInstance, run_id: str) -> str | None:
    """Path of the SQLite database of a run's events; None if another storage has them."""
    from dagster._core.storage.event_log import SqliteEventLogStorage  # imports SQLAlchemy

    storage = instance.event_log_storage
    return storage.path_for_shard(run_id) if isinstance(storage, SqliteEventLogStorage) else None
