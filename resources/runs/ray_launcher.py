"""Ray run launcher.

``dagster.yaml`` names it where ``[cluster] launcher = "ray"``. A run becomes a job of Ray's; the
token, BENCH_HOME and whatever secrets a run needs are in the environment of the nodes, never in
what a job is told.
"""

import json
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import dagster as dg

from bench_assets.core.schema.errors import BenchError, HomeError
from resources.config.bench_toml import Settings, load_settings
from resources.runs.dagster_names import (
    CheckRunHealthResult,
    ConfigurableClass,
    LaunchRunContext,
    RunLauncher,
    WorkerStatus,
)
from resources.runs.orphaned_runs import process_health
from resources.runs.ray_capacity import resources_of, room_of
from resources.runs.ray_cluster import Result, missing_token, options_of, refusals, within
from resources.runs.ray_pending_runs import Delays, StartingRuns
from resources.runs.ray_requirements import folders_of, missing_on_nodes, needs_of

if TYPE_CHECKING:
    from dagster_ray import RayRunLauncher

_NEEDS = "dagster-ray/config"  # tag of a run: what it takes, as JSON
_ANSWER = 30.0  # s in which Ray's head says something
_AWAY = 60.0  # s that it may say nothing of a run before that counts as ended
_LOOKED = 300.0  # s for which a look at the nodes holds
_WAITING = dg.RunsFilter(statuses=[dg.DagsterRunStatus.QUEUED])
_MOST_AT_ONCE = 100  # runs whose folders are looked for together


class RayLauncher(RunLauncher, ConfigurableClass):
    """Sends runs to a cluster.

    Beside what dagster-ray does: a run takes what its model needs; it is not sent where a node has
    not the folders that it reads; it ends within a minute if its job does before it says a word, or
    Ray knows of none, which Dagster looks at no sooner than after five; and a head that is silent
    for a moment ends none.
    """

    def __init__(self, address: str, inst_data: Any = None) -> None:  # noqa: ANN401 - private type
        super().__init__()  # type: ignore[no-untyped-call]
        self._address = address
        self._inst_data = inst_data
        self._silent_since: dict[str, float] = {}  # run -> s of the monotonic clock
        self._looked: dict[str, float] = {}  # path -> s likewise, when all nodes had it
        self._sending: set[str] = set()  # runs that Ray cannot know yet
        self._delays = Delays()

    @property
    def inst_data(self) -> Any:  # noqa: ANN401
        """What ``dagster.yaml`` says."""
        return self._inst_data

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """The entries of ``config``."""
        return {"ray": {"address": str}}

    @classmethod
    def from_config_value(
        cls,
        inst_data: Any,  # noqa: ANN401
        config_value: Mapping[str, Any],
    ) -> Self:
        """Make it of ``dagster.yaml``."""
        return cls(config_value["ray"]["address"], inst_data)

    def launch_run(self, context: LaunchRunContext) -> None:
        """Send a run.

        Raises:
            HomeError: If a node has not what it reads, or the cluster cannot be reached.
        """
        run_id = context.dagster_run.run_id
        self._sending.add(run_id)
        try:
            self._send(context)
        finally:
            self._sending.discard(run_id)
        self._starting.watch()

    def dispose(self) -> None:
        """Look after nothing any more."""
        if "_starting" in vars(self):
            self._starting.stop()

    def _send(self, context: LaunchRunContext) -> None:
        run, settings = context.dagster_run, self._settings()
        self._require_folders(run, settings)
        if _NEEDS not in run.tags:
            said = {name: n for name, n in options_of(needs_of(run, settings)).items() if n}
            self._instance.add_run_tags(run.run_id, {_NEEDS: json.dumps(said)})
            run = run.with_tags({**run.tags, _NEEDS: json.dumps(said)})
        sent = LaunchRunContext(dagster_run=run, workspace=context.workspace)
        self._asked(partial(self._ray.launch_run, sent))

    def terminate(self, run_id: str) -> bool:
        """End a run; says whether it was there."""
        return bool(self._asked(partial(self._ray.terminate, run_id)))

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Whether it can."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Say of a run that goes on whether its job does."""
        self._starting.watch()
        if _NEEDS not in run.tags:
            return process_health(self._instance, run)
        health = self._health(run)
        is_on_its_way = run.status == dg.DagsterRunStatus.STARTING  # sent by another, perhaps
        is_unknown = health.status == WorkerStatus.UNKNOWN and "does not exist" in (
            health.msg or ""
        )
        if is_unknown and not is_on_its_way:
            said = "Ray knows no such job: its head was started anew"
            return CheckRunHealthResult(WorkerStatus.FAILED, said)
        if health.status != WorkerStatus.UNKNOWN:
            self._silent_since.pop(run.run_id, None)
            return health
        since = self._silent_since.setdefault(run.run_id, time.monotonic())
        if time.monotonic() - since < _AWAY:
            return CheckRunHealthResult(WorkerStatus.RUNNING, "Ray's head does not answer")
        return CheckRunHealthResult(WorkerStatus.FAILED, f"Ray's head: {health.msg}")

    def get_run_worker_debug_info(
        self, run: dg.DagsterRun, include_container_logs: bool | None = True
    ) -> str | None:
        """What Ray knows of a run's job."""
        return str(self._asked(partial(self._ray.get_run_worker_debug_info, run)) or "")

    def _require_folders(self, run: dg.DagsterRun, settings: Settings) -> None:
        """Look at the nodes, for this run and those that wait: one look takes seconds."""
        paths = folders_of(run, settings)
        now = time.monotonic()
        if all(now - self._looked.get(path, -_LOOKED) < _LOOKED for path in paths):
            return
        asked = dict.fromkeys(paths)
        for other in self._instance.get_runs(_WAITING, limit=_MOST_AT_ONCE):
            with suppress(BenchError):  # which is its own matter
                asked |= dict.fromkeys(folders_of(other, settings))
        found = self._asked(lambda: missing_on_nodes(self._ray.client, list(asked)), 150.0)
        if missing := [said for path, said in found if path in paths or not path]:
            raise HomeError(
                f"{'; '.join(missing)}: what a run reads must lie on every node of the Ray cluster"
                " under the same name, as a mounted folder does"
            )
        self._looked |= dict.fromkeys(asked.keys() - {path for path, _ in found}, now)

    def _health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        try:
            health: CheckRunHealthResult = self._asked(
                partial(self._ray.check_run_worker_health, run)
            )
        except HomeError as why:
            return CheckRunHealthResult(WorkerStatus.UNKNOWN, str(why))
        return health

    def _asked(self, ask: Callable[[], Result], seconds: float = _ANSWER) -> Result:
        """Ask Ray's head.

        Raises:
            HomeError: If it does not answer in time, or refuses.
        """
        try:
            if missing := missing_token():
                raise ConnectionError(missing)
            return within(seconds, ask)
        except refusals() as why:
            line = (str(why).strip().splitlines() or [type(why).__name__])[0]
            raise HomeError(
                f"[cluster] address {self._address}: Ray does not take runs there: {line}; is its"
                " dashboard there, and RAY_AUTH_TOKEN set where runs are sent from?"
            ) from None

    def _why_over(self, run: dg.DagsterRun) -> str:
        """Why a run that was sent off and has not begun never will; "" if it may."""
        if run.run_id in self._sending or _NEEDS not in run.tags:
            return ""  # maybe by another process, or on its way
        health = self.check_run_worker_health(run)
        if health.status in (WorkerStatus.FAILED, WorkerStatus.SUCCESS):
            return f"The Ray job of this run ended before the run began. {health.msg or ''}".strip()
        try:
            room = self._asked(partial(room_of, self._ray.client))
        except HomeError:  # a head that is silent was looked at above
            return ""
        waits = self._settings().cluster.wait_for_room > 0
        return self._delays.why_over(run.run_id, room, resources_of(run.tags[_NEEDS]), waits)

    def _settings(self) -> Settings:
        return load_settings(Path(self._instance.root_directory).parent)

    @cached_property
    def _starting(self) -> StartingRuns:
        return StartingRuns(self._instance, self._why_over)

    @cached_property
    def _ray(self) -> "RayRunLauncher":
        from dagster_ray import RayRunLauncher

        class Launcher(RayRunLauncher):  # type: ignore[misc]
            def _launch_ray_job(self, job: str, entrypoint: str, run: dg.DagsterRun) -> None:
                super()._launch_ray_job(job, _for_a_shell(entrypoint), run)

        launcher = Launcher(self._address)
        launcher.register_instance(self._instance)
        return launcher


def _for_a_shell(entrypoint: str) -> str:
    """Quote what dagster-ray only puts between quotation marks: JSON that may have some in it.

    And not whatever ``dagster`` a node has in its PATH, if it has one.

    >>> print(_for_a_shell("python -m dagster api execute_run '[it's]'"))
    python -m dagster api execute_run '[it'"'"'s]'
    """
    command, _, quoted = entrypoint.partition(" '")
    if command.startswith("dagster "):
        command = f"{shlex.quote(sys.executable)} -m {command}"
    return f"{command} {shlex.quote(quoted.removesuffix(chr(39)))}"
