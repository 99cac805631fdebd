"""Slurm run launcher: a run is a job of ``sbatch``.

Used with ``[cluster] launcher = "slurm"``. A job inherits the environment of the daemon that
submits it, which is the default of ``sbatch``, and writes its log to ``dagster/slurm`` of the home,
which has the same path on every machine.
"""

import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import dagster as dg

from bench_assets.core.schema.errors import HomeError
from bench_resources.cluster.run_needs import needs_of, sbatch_options
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.runs.dagster_instance import home_of
from bench_resources.runs.dagster_names import (
    CheckRunHealthResult,
    ExecuteRunArgs,
    LaunchRunContext,
    WorkerStatus,
)
from bench_resources.runs.orphaned_runs import MonitoredRunLauncher

JOB = "slurm/job"  # tag of a run: the number of its job

_PENDING = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "RESIZING"})
_RUNNING = frozenset({"RUNNING", "COMPLETING", "SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED"})
_UNKNOWN_STATE = "GONE"  # unknown to Slurm: it ended more than MinJobAge ago
_NO_STATE = "?"  # the controller does not respond
_RESPONSE_TIMEOUT = 60.0  # s to wait for Slurm, whose squeue gives up after some 20 s
_LINES = 20  # lines of the log that a failed run shows


class SlurmLauncher(MonitoredRunLauncher):
    """Sends runs to Slurm, with the resources that their model needs.

    A pending job is healthy, a job unknown to Slurm is not. While the controller does not respond,
    jobs go on: then the heartbeats of a run decide.
    """

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Types of the entries of ``config`` in ``dagster.yaml``: none."""
        return {}

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Mapping[str, Any]) -> Self:  # noqa: ANN401
        """Build the launcher from ``dagster.yaml``."""
        return cls(inst_data)

    def launch_run(self, context: LaunchRunContext) -> None:
        """Submit a run.

        Raises:
            HomeError: If ``sbatch`` refuses it, or is not in PATH.
        """
        run, settings = context.dagster_run, load_settings(home_of(self._instance))
        log = self._log_file(run.run_id)
        log.parent.mkdir(parents=True, exist_ok=True)
        options = ["--parsable", "--no-requeue", f"--job-name=bench-{run.run_id[:8]}"]
        output = str(log).replace("%", "%%")  # %j and the like are placeholders
        options += [f"--output={output}", "--open-mode=append"]
        options += [*_site_options(settings), *sbatch_options(needs_of(run, settings))]
        script = f"#!/bin/sh\nexec {_execute_command(context)}\n"
        result = _call_slurm("sbatch", *options, script=script)
        if result.returncode:
            raise HomeError(f'[cluster] launcher "slurm": sbatch: {result.stderr.strip()}')
        job, *_ = result.stdout.split(";")  # followed by the cluster's name, if there are several
        job = job.strip()
        self._instance.add_run_tags(run.run_id, {JOB: job})
        self._instance.report_engine_event(f"Slurm job {job}, log {log}", run, cls=type(self))

    def terminate(self, run_id: str) -> bool:
        """End a run; returns whether Slurm could signal or cancel its job.

        The first call sends SIGTERM, so that the process can record its end; the second kills it.
        """
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished or JOB not in run.tags:
            return False
        if run.status == dg.DagsterRunStatus.CANCELING:
            return _call_slurm("scancel", run.tags[JOB]).returncode == 0
        self._instance.report_run_canceling(run)
        state, _ = self._state(run)
        if state in _RUNNING:
            return _call_slurm("scancel", "--batch", "--signal=TERM", run.tags[JOB]).returncode == 0
        cancelled = _call_slurm("scancel", run.tags[JOB])  # no process could record its end
        self._instance.report_run_canceled(run)
        return cancelled.returncode == 0

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Health of a run's job, or of the process of a run of a command."""
        if JOB not in run.tags:
            return super().check_run_worker_health(run)
        state, reason = self._state(run)
        if state in _PENDING:
            return CheckRunHealthResult(WorkerStatus.RUNNING, f"{state} {reason}")
        if state in _RUNNING or state == _NO_STATE:
            health = super().check_run_worker_health(run)  # its node may be down, unknown to Slurm
            if health.status == WorkerStatus.FAILED:
                _call_slurm("scancel", run.tags[JOB])
            return health
        if state == "COMPLETED":
            return CheckRunHealthResult(WorkerStatus.SUCCESS)
        return CheckRunHealthResult(WorkerStatus.FAILED, f"Slurm job {run.tags[JOB]}: {state}")

    def has_left_the_queue(self, run: dg.DagsterRun) -> bool:
        """Whether the job of a run that has not started is neither pending nor running."""
        if JOB not in run.tags:
            return False
        state, _ = self._state(run)
        active_states = _PENDING | _RUNNING | {_NO_STATE}
        return state not in active_states

    def get_run_worker_debug_info(
        self, run: dg.DagsterRun, include_container_logs: bool | None = True
    ) -> str | None:
        """The state of a run's job, and the end of its log."""
        if JOB not in run.tags:
            return None
        log = self._log_file(run.run_id)
        lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
        state, detail = self._state(run)
        return "\n".join(
            [f"Slurm job {run.tags[JOB]} {detail}: {state}", f"{log}:", *lines[-_LINES:]]
        )

    def _log_file(self, run_id: str) -> Path:
        return home_of(self._instance) / "dagster" / "slurm" / f"{run_id}.log"

    def _state(self, run: dg.DagsterRun) -> tuple[str, str]:
        """State of a run's job, and its node, or the reason why it is pending or has no state."""
        result = _call_slurm("squeue", "-h", "-t", "all", "-o", "%T|%N|%r", "-j", run.tags[JOB])
        if result.returncode == 0 and "|" in result.stdout:
            state, node, reason = result.stdout.strip().split("|", 2)
            return state, f"on {node}" if node else f"({reason})"
        if result.returncode == 0 or "Invalid job id" in result.stderr:
            return _UNKNOWN_STATE, ""
        return _NO_STATE, result.stderr.strip()


def _site_options(settings: Settings) -> list[str]:
    cluster = settings.cluster
    options = {"partition": cluster.partition, "account": cluster.account}
    return [*(f"--{name}={value}" for name, value in options.items() if value), *cluster.sbatch]


def _execute_command(context: LaunchRunContext) -> str:
    """Shell command that executes a run; it finds the instance by ``DAGSTER_HOME``."""
    origin = context.job_code_origin
    assert origin is not None  # Dagster has recorded the code location
    arguments = ExecuteRunArgs(
        origin, context.dagster_run.run_id, instance_ref=None
    ).get_command_args()
    subcommand = arguments[arguments.index("api") :]  # without the interpreter of the origin
    return shlex.join([sys.executable, "-m", "dagster", *subcommand])


def _call_slurm(*command: str, script: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a command of Slurm with ``script`` as stdin; a timeout is returned as a failure."""
    try:
        return subprocess.run(
            command,
            input=script,
            capture_output=True,
            text=True,
            timeout=_RESPONSE_TIMEOUT,
            check=False,
        )
    except FileNotFoundError:
        raise HomeError(
            f'[cluster] launcher "slurm": no {command[0]} in PATH. Start bench on a machine that'
            " submits jobs"
        ) from None
    except subprocess.TimeoutExpired:
        message = f"no response within {_RESPONSE_TIMEOUT:.0f} s"
        return subprocess.CompletedProcess(command, returncode=1, stdout="", stderr=message)
