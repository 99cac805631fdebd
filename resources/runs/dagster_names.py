"""The only module that imports private names of Dagster.

* ``RunLauncher``, ``LaunchRunContext``, ``CheckRunHealthResult``, ``WorkerStatus``: what a run
  launcher is written with; Dagster's own launchers in other packages import them from here, too.
* ``ConfigurableClass``: how ``dagster.yaml`` names a class of another package.
* ``InstanceRef``: the defaults that a subclass of ``DagsterInstance`` named there has to give.
"""

from dagster._core.instance.ref import InstanceRef
from dagster._core.launcher import (
    CheckRunHealthResult,
    LaunchRunContext,
    RunLauncher,
    WorkerStatus,
)
from dagster._serdes import ConfigurableClass

__all__ = [
    "CheckRunHealthResult",
    "ConfigurableClass",
    "InstanceRef",
    "LaunchRunContext",
    "RunLauncher",
    "WorkerStatus",
]
