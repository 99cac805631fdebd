"""The only module that imports private names of Dagster.

* ``LaunchRunContext``, ``CheckRunHealthResult``, ``WorkerStatus``: what a run launcher is given and
  returns; Dagster's own launchers in other packages import them from here, too.
* ``ExecuteRunArgs``: the command line of a run that is started on another machine.
* ``InstanceRef``: the defaults that a subclass of ``DagsterInstance`` named there has to give.
"""

from dagster._core.instance.ref import InstanceRef
from dagster._core.launcher import CheckRunHealthResult, LaunchRunContext, WorkerStatus
from dagster._grpc.types import ExecuteRunArgs

__all__ = [
    "CheckRunHealthResult",
    "ExecuteRunArgs",
    "InstanceRef",
    "LaunchRunContext",
    "WorkerStatus",
]
