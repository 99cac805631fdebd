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
import pytest

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

TIMEOUT = 900.0  # s for all runs

LOCAL = (
    '[models.tiny]\nkind = "transformers"\npath = "nowhere"\ndevice = "cpu"\nmax_tokens = 8\n'
    "needs = {{ cpu = 1 }}\n"
)
"""Weights that are loaded on the node of a run."""

CONCURRENCY = 4  # requests
_NOTING = Path(__file__).with_name("noting_server.py")
SERVED = (
    '[models.tiny]\nkind = "server"\npath = "nowhere"\nmax_tokens = 8\n'
    f'serve = "{sys.executable} -S {_NOTING} {{{{path}}}} {{{{port}}}} {{requests_file}}"\n'
    f"concurrency = {CONCURRENCY}\n"
)
"""A server that is started on the node of a run, and writes its requests to a file."""

_WATCHED = (
    '[checkpoints]\nfolders = [{folder!r}]\nsettle_seconds = 0\nlike = "tiny"\nsuites = {suites}\n'
)


class Request(NamedTuple):
    """A request that a server received."""

    path: str  # of the weights
    digest: str  # of all that was sent
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A cluster with a home for each node; ``alone`` is a home that shares nothing."""

    machines: RayCluster | SlurmCluster
    server: PostgresServer
    store: Front
    homes: Mapping[str, Path]
    alone: Path
    suites: tuple[str, ...]
    trained: Path  # where checkpoints appear
    requests_file: Path  # a line for each request that a server received
    daemons: "list[subprocess.Popen[bytes]]" = field(default_factory=list)  # the newest last

    def open(self, home: Path) -> Workbench:
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
        """The requests that servers received so far, in order."""
        lines = self.requests_file.read_text().splitlines() if self.requests_file.exists() else []
        return [Request(*line.split()) for line in lines]

    def train(self, *seeds: int) -> None:
        """Write a checkpoint for each seed, as a training run does."""
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


def model_runs(bench: Workbench) -> list[dg.DagsterRun]:
    return [run for run in bench.instance.get_runs() if "dagster/partition" in run.tags]


def wait_for_runs(bench: Workbench, n: int) -> list[dg.DagsterRun]:
    """Wait until ``n`` runs that evaluate a model succeeded and none is going on; returns them."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        runs = model_runs(bench)
        statuses = Counter(run.status.value for run in runs)
        if statuses["SUCCESS"] >= n and all(run.is_finished for run in runs):
            return [run for run in runs if run.status == dg.DagsterRunStatus.SUCCESS]
        assert time.monotonic() < deadline, statuses
        time.sleep(2)


def wait_for_all_runs(bench: Workbench) -> None:
    """Wait until no run of any kind is going on."""
    deadline = time.monotonic() + TIMEOUT
    while not all(run.is_finished for run in bench.instance.get_runs()):
        assert time.monotonic() < deadline
        time.sleep(2)


def model_tables(bench: Workbench) -> dict[tuple[str, str], list[str]]:
    """Rows of every table that the evaluations of checkpoints wrote, by table and model."""
    return {
        (table.name, table.model): table.rows
        for table in _tables(bench)
        if table.model.startswith("run/")
    }


def source_tables(bench: Workbench, suites: Sequence[str]) -> dict[str, list[str]]:
    """Rows of every table of suites that belongs to no model, such as the questions."""
    return {
        table.name: table.rows
        for table in _tables(bench)
        if not table.model and table.name.split("/")[0] in suites
    }


class _Table(NamedTuple):
    name: str
    model: str  # "" for a table without models
    rows: list[str]


def _tables(bench: Workbench) -> Iterator[_Table]:
    graph = bench.definitions.resolve_asset_graph()
    for key in graph.get_all_asset_keys():
        name = "/".join(key.path)
        models = {""}
        if isinstance(graph.get(key).partitions_def, dg.DynamicPartitionsDefinition):
            models = set(bench.tables.partitions(list(key.path)))
        elif not bench.tables.partitions(list(key.path)):
            continue
        for model in sorted(models):
            yield _Table(name, model, [_comparable(row) for row in bench.rows(name, model)])


def _comparable(row: Any) -> str:
    """All digits of a row that do not depend on the machine, as text since nan != nan.

    Left out are the duration of a response, and the baselines of judged metrics, which depend on
    the models that the judge has judged before.
    """
    if hasattr(row, "seconds"):
        row = replace(row, seconds=None)
    if isinstance(row, Metric) and row.baselines:
        row = replace(row, constant=None, shuffled=None, baselines="")
    return repr(row)


def differences(actual: Mapping[Any, Any], expected: Mapping[Any, Any]) -> dict[Any, str]:
    """The first differing rows of two mappings by key, shortened; {} if they are equal."""
    keys = actual.keys() | expected.keys()
    return {
        key: _first_difference(actual.get(key), expected.get(key))
        for key in sorted(keys)
        if actual.get(key) != expected.get(key)
    }


def _first_difference(actual: Any, expected: Any) -> str:
    if isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        actual, expected = next(
            pair for pair in zip(actual, expected, strict=True) if pair[0] != pair[1]
        )
    return f"{str(actual)[:1000]} != {str(expected)[:1000]}"


def end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process, and the code server that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def team(folder, suites, launcher, model=LOCAL):
    """Run a cluster until the block ends; ``model`` has the settings of its checkpoints."""
    with ExitStack() as stack:
        server = stack.enter_context(postgres())
        store_endpoint = stack.enter_context(moto())
        store = Front(store_endpoint)
        stack.callback(store.shutdown)
        shared = {**KEYS, "TEAM_DATABASE": server.address()}
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name, value in shared.items():
            patch.setenv(name, value)
        homes = {node: folder / f"home-{node}" for node in (HEAD, OTHER)}
        variables = {node: {**shared, "BENCH_HOME": str(home)} for node, home in homes.items()}
        machines: RayCluster | SlurmCluster
        if launcher == "slurm":
            machines = stack.enter_context(slurm_cluster())
            launcher_toml = machines.toml
        else:
            machines = stack.enter_context(ray_cluster(variables))
            os.environ.update({k: v for k, v in machines.variables.items() if "AUTH" in k})
            launcher_toml = f'[cluster]\nlauncher = "ray"\naddress = "{machines.jobs_address}"\n'
        trained = folder / "trained"
        requests_file = folder / "requests.txt"
        own_toml = (model + _WATCHED).format(
            folder=str(trained), suites=list(suites), requests_file=str(requests_file)
        )
        shared_toml = (
            f'[storage]\nobjects = "{make_bucket(store_endpoint, "team")}/all"\n'
            f'endpoint = "{store.endpoint}"\ndatabase = "env:TEAM_DATABASE"\n'
            f"{launcher_toml}pools = {{ gpu = 4 }}\n"
        )
        alone = folder / "alone"
        for home in (*homes.values(), alone):
            home.mkdir()
            text = own_toml if home == alone else own_toml + shared_toml
            (home / "bench.toml").write_text(text, encoding="utf-8")
        yield Team(
            machines=machines, server=server, store=store, homes=homes, alone=alone, suites=suites,
            trained=trained, requests_file=requests_file,
        )  # fmt: skip
