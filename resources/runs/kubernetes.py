"""Kubernetes run launcher."""

import dagster as dg
from dagster_k8s import K8sRunLauncher

from resources.runs.dagster_names import CheckRunHealthResult, LaunchRunContext
from resources.runs.orphaned_runs import process_health

_SENT = "bench/sent_to"  # of runs that are jobs: what others record here is none of its business


class PodLauncher(K8sRunLauncher):  # type: ignore[misc]
    """Dagster's Kubernetes launcher, except that in-process runs of commands have no job."""

    def launch_run(self, context: LaunchRunContext) -> None:
        """Send a run."""
        self._instance.add_run_tags(context.dagster_run.run_id, {_SENT: "kubernetes"})
        super().launch_run(context)

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Health of a run's job or process."""
        if _SENT not in run.tags:
            return process_health(self._instance, run)
        health: CheckRunHealthResult = super().check_run_worker_health(run)
        return health
