"""A team's cluster on this machine: a database, an object store, two nodes with a home each."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg

from bench_assets.core.schema.rows import Metric
from bench_assets.workspace.materialization.dagster_instance import open_instance
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.environment import environment_of
from tests.fakes.object_store import KEYS, Front, make_bucket, moto
from tests.fakes.postgres_server import PostgresServer, postgres
from tests.fakes.ray_cluster import CHECKOUT, HEAD, OTHER, RayCluster, ray_cluster
from tests.fakes.slurm_cluster import NODES, SlurmCluster, slurm_cluster
from tests.fakes.tiny_checkpoint import save_tiny_vlm

PATIENCE = 900.0  # s for all runs

LOCAL = (
    '[models.tiny]\nkind = "transformers"\npath = "nowhere"\ndevice = "cpu"\nmax_tokens = 8\n'
    "needs = {{ cpu = 1 }}\n"
)
"""Weights that are loaded where a run is."""

AT_ONCE = 4  # requests
_NOTING = Path(__file__).with_name("noting_server.py")
SERVED = (
    '[models.tiny]\nkind = "server"\npath = "nowhere"\nmax_tokens = 8\n'
    f'serve = "{sys.executable} -S {_NOTING} {{{{path}}}} {{{{port}}}} {{requests_file}}"\n'
    f"concurrency = {AT_ONCE}\n"
)
"""A server that is started where a run is, and notes what it is asked."""

_WATCHED = (
    '[checkpoints]\nfolders = [{folder!r}]\nsettle_seconds = 0\nlike = "tiny"\nsuites = {suites}\n'
)


class Request(NamedTuple):
    """One that a server was asked."""

    path: str  # of the weights
    digest: str  # of all that was sent
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """Homes by node; ``alone`` is a third one that shares nothing."""

    machines: RayCluster | SlurmCluster
    server: PostgresServer
    store: Front
    homes: Mapping[str, Path]
    alone: Path
    suites: tuple[str, ...]
    trained: Path  # where checkpoints appear
    requests_file: Path  # what servers were asked, a line each
    daemons: "list[subprocess.Popen[bytes]]" = field(default_factory=list)  # the newest last

    def opened(self, home: Path) -> Workbench:
        """The graph over a home."""
        return Workbench(load_settings(home), list(self.suites))

    def node_of(self, bench: Workbench, run: dg.DagsterRun) -> str:
        """The node that a run's job was on, as Ray or Slurm says."""
        debug_info = bench.instance.run_launcher.get_run_worker_debug_info(run) or ""
        if match := re.search(r"driver_agent_http_address='http://([\d.]+):", debug_info):
            return match[1]
        match = re.match(r"Slurm job \d+ on (\w+)", debug_info)
        return next(
            (node for node, name in NODES.items() if match and name == match[1]), debug_info
        )

    def requests(self) -> list[Request]:
        """What servers were asked so far, in the order in which it came."""
        lines = self.requests_file.read_text().splitlines() if self.requests_file.exists() else []
        return [Request(*line.split()) for line in lines]

    def train(self, *seeds: int) -> None:
        """Write checkpoints, as a training run does."""
        for seed in seeds:
            save_tiny_vlm(self.trained / "run" / f"step-{seed}", seed)

    @contextmanager
    def daemon(self, node: str = HEAD) -> "Iterator[subprocess.Popen[bytes]]":
        """Dagster's daemon over a node's home, with a code server of its own."""
        home = self.homes[node]
        open_instance(home).dispose()  # as every command does first
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
    return [run for run in bench.instance.get_runs() if "dagster/partition" in run.tags]


def finished(bench: Workbench, n: int) -> list[dg.DagsterRun]:
    """The runs over models that ended well, once there are ``n`` and none goes on."""
    until = time.monotonic() + PATIENCE
    while True:
        runs = over_models(bench)
        statuses = Counter(run.status.value for run in runs)
        if statuses["SUCCESS"] >= n and all(run.is_finished for run in runs):
            return [run for run in runs if run.status == dg.DagsterRunStatus.SUCCESS]
        assert time.monotonic() < until, statuses
        time.sleep(2)


def all_ended(bench: Workbench) -> None:
    """Wait for runs that no model has to do with, too."""
    until = time.monotonic() + PATIENCE
    while not all(run.is_finished for run in bench.instance.get_runs()):
        assert time.monotonic() < until
        time.sleep(2)


def made_of_models(bench: Workbench) -> dict[tuple[str, str], list[str]]:
    """Every table that the evaluations of checkpoints made, row by row."""
    return {
        (name, model): rows for (name, model), rows in _tables(bench) if model.startswith("run/")
    }


def made_of_sources(bench: Workbench, suites: Sequence[str]) -> dict[str, list[str]]:
    """Every table of suites that no model has to do with, questions among them."""
    return {
        name: rows
        for (name, model), rows in _tables(bench)
        if not model and name.split("/")[0] in suites
    }


def _tables(bench: Workbench) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """Tables by name and partition, "" for none: all that are there."""
    graph = bench.definitions.resolve_asset_graph()
    for key in graph.get_all_asset_keys():
        name = "/".join(key.path)
        of_models = isinstance(graph.get(key).partitions_def, dg.DynamicPartitionsDefinition)
        parts = bench.tables.partitions(list(key.path))
        for model in sorted({part if of_models else "" for part in parts}):  # others: raw data sets
            yield (name, model), [_written(row) for row in bench.rows(name, model)]


def _written(row: Any) -> str:
    """All digits of a row, but for how long a response took: that is another each time.

    And for baselines of judged numbers, which depend on whom the judge has judged before.
    As text, since a number that is none is not equal to itself.
    """
    if hasattr(row, "seconds"):
        row = replace(row, seconds=None)
    if isinstance(row, Metric) and row.baselines:
        row = replace(row, constant=None, shuffled=None, baselines="")
    return repr(row)


def differing(ours: Mapping[Any, Any], theirs: Mapping[Any, Any]) -> dict[Any, str]:
    """What of two mappings is not the same, each cut to what can be read."""
    keys = ours.keys() | theirs.keys()
    return {
        key: _first(ours.get(key), theirs.get(key))
        for key in sorted(keys)
        if ours.get(key) != theirs.get(key)
    }


def _first(ours: Any, theirs: Any) -> str:
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        ours, theirs = next((a, b) for a, b in zip(ours, theirs, strict=True) if a != b)
    return f"{str(ours)[:1000]} != {str(theirs)[:1000]}"


def end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process, and the code server that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def team(
    folder: Path, suites: tuple[str, ...], launcher: str, model: str = LOCAL
) -> Iterator[Team]:
    """All of it as long as the block; checkpoints are asked as ``model`` is."""
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
        machines: RayCluster | SlurmCluster
        if launcher == "slurm":
            machines = until.enter_context(slurm_cluster())
            how = machines.toml
        else:
            machines = until.enter_context(ray_cluster(variables))
            os.environ.update({k: v for k, v in machines.variables.items() if "AUTH" in k})
            how = f'[cluster]\nlauncher = "ray"\naddress = "{machines.jobs_address}"\n'
        trained, requests_file = folder / "trained", folder / "asked.txt"
        written = (model + _WATCHED).format(
            folder=str(trained), suites=list(suites), requests_file=str(requests_file)
        )
        common = (
            f'[storage]\nobjects = "{make_bucket(behind, "team")}/all"\n'
            f'endpoint = "{store.endpoint}"\ndatabase = "env:TEAM_DATABASE"\n'
            f"{how}pools = {{ gpu = 4 }}\n"
        )
        alone = folder / "alone"
        for home in (*homes.values(), alone):
            home.mkdir()
            text = written if home == alone else written + common
            (home / "bench.toml").write_text(text, encoding="utf-8")
        yield Team(
            machines=machines, server=server, store=store, homes=homes, alone=alone, suites=suites,
            trained=trained, requests_file=requests_file,
        )  # fmt: skip


def _put_back(before: Mapping[str, str | None]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
