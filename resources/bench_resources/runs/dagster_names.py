"""The only module that imports private names of Dagster.

* ``LaunchRunContext``, ``CheckRunHealthResult``, ``WorkerStatus``: argument and results of a run
  launcher; Dagster's own launchers in other packages import them from the same module.
* ``ExecuteRunArgs``: the command line of a run that is started on another machine.
* ``DagsterUserCodeUnreachableError``: a code server that is gone, when a run is cancelled.
* ``InstanceRef``: defaults that a ``DagsterInstance`` subclass in ``dagster.yaml`` has to provide.
* ``SqliteEventLogStorage``: the file with the events of a run.
"""

from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.instance.ref import InstanceRef
from dagster._core.launcher import CheckRunHealthResult, LaunchRunContext, WorkerStatus
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._grpc.types import ExecuteRunArgs

__all__ = [
    "CheckRunHealthResult",
    "DagsterUserCodeUnreachableError",
    "ExecuteRunArgs",
    "InstanceRef",
    "LaunchRunContext",
    "SqliteEventLogStorage",
    "WorkerStatus",
]
