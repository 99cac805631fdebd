"""Ray run launcher.

Used with ``[cluster] launcher = "ray"``. A run becomes a Ray job; the token, BENCH_HOME and the
secrets that a run needs are in the environment of the nodes, never in a job's environment.
"""

import json
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self

import dagster as dg

from bench_assets.core.schema.errors import HomeError
from bench_resources.cluster.ray_cluster import (
    Result,
    cluster_errors,
    missing_token,
    run_with_timeout,
)
from bench_resources.cluster.run_needs import needs_of, ray_options
from bench_resources.config.addresses import fill_keys
from bench_resources.config.bench_toml import load_settings
from bench_resources.runs.dagster_instance import home_of
from bench_resources.runs.dagster_names import CheckRunHealthResult, LaunchRunContext, WorkerStatus
from bench_resources.runs.orphaned_runs import MonitoredRunLauncher

if TYPE_CHECKING:
    from dagster_ray import RayRunLauncher

_CONFIG_TAG = "dagster-ray/config"  # tag of a run: its resources, as JSON
_RESPONSE_TIMEOUT = 30.0  # s to wait for a response of Ray's head
_SILENCE_TIMEOUT = 60.0  # s without a response about a run, after which it counts as failed


class RayLauncher(MonitoredRunLauncher):
    """dagster-ray's launcher, with the resources that a run's model needs.

    A head node that does not respond for less than a minute does not end runs, and in-process runs
    of commands do not count as lost jobs.
    """

    def __init__(self, address: str, inst_data: Any = None) -> None:  # noqa: ANN401 - private type
        super().__init__(inst_data)
        self._address = address
        self._silent_since: dict[str, float] = {}  # run -> s of the monotonic clock

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Types of the entries of ``config`` in ``dagster.yaml``."""
        return {"ray": {"address": str}}

    @classmethod
    def from_config_value(
        cls,
        inst_data: Any,  # noqa: ANN401
        config_value: Mapping[str, Any],
    ) -> Self:
        """Build the launcher from ``dagster.yaml``."""
        return cls(config_value["ray"]["address"], inst_data)

    def launch_run(self, context: LaunchRunContext) -> None:
        """Submit a run.

        Raises:
            HomeError: If the cluster cannot be reached.
        """
        run = context.dagster_run
        if _CONFIG_TAG not in run.tags:
            options = ray_options(needs_of(run, load_settings(home_of(self._instance))))
            tags = {_CONFIG_TAG: json.dumps({k: v for k, v in options.items() if v})}
            self._instance.add_run_tags(run.run_id, tags)
            run = run.with_tags({**run.tags, **tags})
        tagged_context = LaunchRunContext(dagster_run=run, workspace=context.workspace)
        self._request(partial(self._ray.launch_run, tagged_context))

    def terminate(self, run_id: str) -> bool:
        """End a run; returns whether Ray could stop its job."""
        return bool(self._request(partial(self._ray.terminate, run_id)))

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Health of a run's job, or of the process of a run of a command."""
        if _CONFIG_TAG not in run.tags:
            return super().check_run_worker_health(run)
        health = self._health(run)
        if health.status == WorkerStatus.UNKNOWN and "does not exist" in (health.msg or ""):
            message = "Ray has no such job: its head was restarted"
            return CheckRunHealthResult(WorkerStatus.FAILED, message)
        if health.status != WorkerStatus.UNKNOWN:
            self._silent_since.pop(run.run_id, None)
            return health
        since = self._silent_since.setdefault(run.run_id, time.monotonic())
        if time.monotonic() - since < _SILENCE_TIMEOUT:
            return CheckRunHealthResult(WorkerStatus.RUNNING, "Ray's head does not respond")
        return CheckRunHealthResult(WorkerStatus.FAILED, f"Ray's head: {health.msg}")

    def has_left_the_queue(self, run: dg.DagsterRun) -> bool:
        """Whether a run has a job, and Ray says that it has ended."""
        ended = (WorkerStatus.FAILED, WorkerStatus.SUCCESS)
        return _CONFIG_TAG in run.tags and self._health(run).status in ended

    def get_run_worker_debug_info(
        self, run: dg.DagsterRun, include_container_logs: bool | None = True
    ) -> str | None:
        """Ray's information about a run's job."""
        return str(self._request(partial(self._ray.get_run_worker_debug_info, run)) or "")

    def _health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Health of a run's job; UNKNOWN while Ray's head does not respond."""
        try:
            health: CheckRunHealthResult = self._request(
                partial(self._ray.check_run_worker_health, run)
            )
        except HomeError as error:
            return CheckRunHealthResult(WorkerStatus.UNKNOWN, str(error))
        return health

    def _request(self, send: Callable[[], Result]) -> Result:
        """Send a request to Ray's head, and return its result; describe its errors for users."""
        try:
            if missing := missing_token():
                raise ConnectionError(missing)
            return run_with_timeout(_RESPONSE_TIMEOUT, send)
        except cluster_errors() as error:
            lines = str(error).strip().splitlines()
            reason = lines[0] if lines else type(error).__name__
            raise HomeError(
                f"[cluster] address {self._address}: Ray does not accept runs: {reason}. Check that"
                " its dashboard runs there, and that RAY_AUTH_TOKEN is set on this machine"
            ) from None

    @cached_property
    def _ray(self) -> "RayRunLauncher":
        from dagster_ray import RayRunLauncher

        class Launcher(RayRunLauncher):  # type: ignore[misc]
            def _launch_ray_job(self, job: str, entrypoint: str, run: dg.DagsterRun) -> None:
                super()._launch_ray_job(job, _quote_entrypoint(entrypoint), run)

        launcher = Launcher(fill_keys(self._address))
        launcher.register_instance(self._instance)
        return launcher


def _quote_entrypoint(entrypoint: str) -> str:
    """Quote the argument that contains JSON, and use this environment's Dagster instead of PATH's.

    >>> print(_quote_entrypoint("python -m dagster api execute_run '[it's]'"))
    python -m dagster api execute_run '[it'"'"'s]'
    """
    command, _, argument = entrypoint.partition(" '")
    if command.startswith("dagster "):
        command = f"{shlex.quote(sys.executable)} -m {command}"
    argument = shlex.quote(argument.removesuffix("'"))
    return f"{command} {argument}"
