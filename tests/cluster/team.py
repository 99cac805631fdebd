"""A team's cluster on this machine: a database, an object store, two nodes with a home each."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import dagster as dg

from bench_assets.bench.workbench import Workbench
from resources.settings.environment import CHECKOUT, environment_of
from resources.settings.settings_file import SettingsFile
from tests.object_store import KEYS, Front, make_bucket, moto
from tests.postgres_server import PostgresServer, postgres
from tests.ray_cluster import HEAD, OTHER, RayCluster, ray_cluster
from tests.tiny_checkpoint import save_tiny_vlm

_PATIENCE = 900.0  # s for all runs

MODEL = (
    '[models.tiny]\nkind = "transformers"\npath = "nowhere"\ndevice = "cpu"\nmax_tokens = 8\n'
    "needs = {{ cpu = 1 }}\n[checkpoints]\nfolders = [{folder!r}]\nsettle_seconds = 0\n"
    'like = "tiny"\nsuites = {suites}\n'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """Homes by node; ``alone`` is a third one that shares nothing."""

    ray: RayCluster
    server: PostgresServer
    store: Front
    homes: Mapping[str, Path]
    alone: Path
    suites: tuple[str, ...]
    trained: Path  # where checkpoints appear
    daemons: "list[subprocess.Popen[bytes]]" = field(default_factory=list)  # the newest last

    def opened(self, home: Path) -> Workbench:
        """The graph over a home."""
        return Workbench(SettingsFile(home=str(home)), list(self.suites))

    def node_of(self, bench: Workbench, run: dg.DagsterRun) -> str:
        """The node that a run's job was on, as Ray says."""
        said = bench.instance.run_launcher.get_run_worker_debug_info(run) or ""
        found = re.search(r"driver_agent_http_address='http://([\d.]+):", said)
        return found[1] if found else said

    def train(self, *seeds: int) -> None:
        """Write checkpoints, as a training run does."""
        for seed in seeds:
            save_tiny_vlm(self.trained / "run" / f"step-{seed}", seed)

    @contextmanager
    def daemon(self, node: str = HEAD) -> "Iterator[subprocess.Popen[bytes]]":
        """Dagster's daemon over a node's home, with a code server of its own."""
        home = self.homes[node]
        with (home / f"daemon-{time.time_ns()}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dagster._daemon", "run", "-w", "workspace.yaml"],
                cwd=CHECKOUT, env=environment_of(home), stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self.daemons.append(process)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    end(process)


def over_models(bench: Workbench) -> list[dg.DagsterRun]:
    """All runs over a model that there were."""
    return [one for one in bench.instance.get_runs() if "dagster/partition" in one.tags]


def finished(bench: Workbench, n: int) -> list[dg.DagsterRun]:
    """The runs over models that ended well, once there are ``n`` and none goes on."""
    until = time.monotonic() + _PATIENCE
    while True:
        runs = over_models(bench)
        said = Counter(one.status.value for one in runs)
        if said["SUCCESS"] >= n and all(one.is_finished for one in runs):
            return [one for one in runs if one.status == dg.DagsterRunStatus.SUCCESS]
        assert time.monotonic() < until, said
        time.sleep(2)


def timeless(row: Any) -> Any:
    """A row without what is another each time: how long a reply took."""
    return replace(row, seconds=None) if hasattr(row, "seconds") else row


def made_of_models(bench: Workbench) -> dict[tuple[str, str], list[Any]]:
    """Every table that the evaluations of checkpoints made, row by row."""
    found = {}
    for key in bench.definitions.resolve_asset_graph().get_all_asset_keys():
        for model in bench.tables.partitions(list(key.path)):
            if model.startswith("run/"):
                rows = bench.rows("/".join(key.path), model)
                found["/".join(key.path), model] = [timeless(row) for row in rows]
    return found


def end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process, and the code server that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def team(folder: Path, suites: tuple[str, ...], more: str = "") -> Iterator[Team]:
    """All of it as long as the block; ``more`` is written into every bench.toml."""
    with ExitStack() as until:
        server, behind = until.enter_context(postgres()), until.enter_context(moto())
        store = Front(behind)
        until.callback(store.shutdown)
        shared = {**KEYS, "TEAM_DATABASE": server.address()}
        before = {name: os.environ.get(name) for name in shared}
        os.environ.update(shared)
        until.callback(_put_back, before)
        homes = {node: folder / f"home-{node}" for node in (HEAD, OTHER)}
        variables = {node: {**shared, "BENCH_HOME": str(home)} for node, home in homes.items()}
        ray = until.enter_context(ray_cluster(variables))
        os.environ.update(token := {k: v for k, v in ray.variables.items() if "AUTH" in k})
        assert token
        trained = folder / "trained"
        written = MODEL.format(folder=str(trained), suites=list(suites)) + more
        common = (
            f'[storage]\nobjects = "{make_bucket(behind, "team")}/all"\n'
            f'endpoint = "{store.endpoint}"\ndatabase = "env:TEAM_DATABASE"\n'
            f'[cluster]\nlauncher = "ray"\naddress = "{ray.jobs_address}"\n'
            "pools = { gpu = 4 }\n"
        )
        alone = folder / "alone"
        for home in (*homes.values(), alone):
            home.mkdir()
            text = written if home == alone else written + common
            (home / "bench.toml").write_text(text, encoding="utf-8")
        yield Team(
            ray=ray, server=server, store=store, homes=homes, alone=alone, suites=suites,
            trained=trained,
        )  # fmt: skip


def _put_back(before: Mapping[str, str | None]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
