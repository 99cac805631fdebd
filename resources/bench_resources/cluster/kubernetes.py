"""Kubernetes run launcher, for the values of Dagster's Helm chart (deploy/values.yaml)."""

import json

import dagster as dg
from dagster_k8s import K8sRunLauncher

from bench_resources.cluster.run_needs import needs_of, pod_config
from bench_resources.config.bench_toml import load_settings
from bench_resources.runs.dagster_instance import home_of
from bench_resources.runs.dagster_names import CheckRunHealthResult, LaunchRunContext
from bench_resources.runs.orphaned_runs import process_health

_JOB_TAG = "bench/sent_to"  # tag of runs that are Kubernetes jobs; commands run the others
_CONFIG_TAG = "dagster-k8s/config"  # tag of a run: its pod, merged into that of the values


class PodLauncher(K8sRunLauncher):  # type: ignore[misc]
    """Dagster's Kubernetes launcher, with the resources that a run's model needs.

    In-process runs of commands have no job.
    """

    def launch_run(self, context: LaunchRunContext) -> None:
        """Create the job of a run; a configuration in its tags takes precedence."""
        run = context.dagster_run
        tags = {_JOB_TAG: "kubernetes"}
        if _CONFIG_TAG not in run.tags:
            needs = needs_of(run, load_settings(home_of(self._instance)))
            tags[_CONFIG_TAG] = json.dumps(pod_config(needs))
        self._instance.add_run_tags(run.run_id, tags)
        tagged_run = run.with_tags({**run.tags, **tags})
        super().launch_run(LaunchRunContext(dagster_run=tagged_run, workspace=context.workspace))

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Health of a run's job or process."""
        if _JOB_TAG not in run.tags:
            return process_health(self._instance, run)
        health: CheckRunHealthResult = super().check_run_worker_health(run)
        return health
