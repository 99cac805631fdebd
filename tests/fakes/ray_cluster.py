"""A Ray cluster of two nodes for tests: 127.0.0.2 is the head, 127.0.0.3 the other one.

Ray would replace 127.0.0.1 by the machine's address, where the second node never finds the head.
A head listens on all interfaces and runs the code of all clients, so a token is required.
"""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.fakes.ports import free_port

HEAD, OTHER = "127.0.0.2", "127.0.0.3"
CHECKOUT = Path(__file__).parents[2]
# Ray reads these variables when it is imported.
_TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
os.environ.update(_TOKEN)

MARK = "BENCH_TEST_RAY_NODE"  # environment variable of all processes of a node
_MAX_START_SECONDS = 240.0  # of a node, on a busy machine


class RayCluster:
    """Two nodes with two CPUs each; the resource node_a or node_b names a node."""

    def __init__(self, folder: Path, variables: Mapping[str, Mapping[str, str]]) -> None:
        if not find_spec("ray"):
            pytest.skip("no Ray here: make cluster-check installs it")
        self._folder = folder
        self._name = secrets.token_hex(8)
        self._variables_by_node = variables
        self._gcs, self._dashboard = free_port(HEAD), free_port(HEAD)
        self.variables = {"RAY_ADDRESS": f"{HEAD}:{self._gcs}", **_TOKEN}
        """Environment variables with which a process reaches the cluster."""

    @property
    def jobs_address(self) -> str:
        """URL of the API that accepts jobs."""
        return f"http://{HEAD}:{self._dashboard}"

    def folder_of(self, node: str) -> Path:
        """The working folder of a node's processes, which the other node does not use."""
        folder = self._folder.parent / node
        folder.mkdir(exist_ok=True)
        return folder

    def start_head(self) -> None:
        """Start the first node, which the second one joins."""
        self._start(
            HEAD, "--head", f"--port={self._gcs}", f"--dashboard-host={HEAD}",
            f"--dashboard-port={self._dashboard}", f"--temp-dir={self._folder}",
            f"--ray-client-server-port={free_port(HEAD)}", '--resources={"node_a":1}',
        )  # fmt: skip

    def start_other(self) -> None:
        """Start the second node."""
        self._start(OTHER, f"--address={HEAD}:{self._gcs}", '--resources={"node_b":1}')

    def kill(self, node: str) -> None:
        """Kill all processes of a node, as a failure of its machine does."""
        for _ in range(20):  # a dying process may be starting others
            if not (pids := self._processes(node)):
                return
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    def _start(self, node: str, *arguments: str) -> None:
        lowest_port = 20_000 if node == HEAD else 30_000
        log_file = self._folder.parent / f"{node}.log"
        environment = {
            **os.environ, **self._variables_by_node.get(node, {}), **self.variables,
            "PYTHONPATH": str(CHECKOUT), "OMP_NUM_THREADS": "1",
            "RAY_USAGE_STATS_ENABLED": "0", MARK: f"{self._name} {node}",
            "RAY_health_check_period_ms": "1000", "RAY_health_check_timeout_ms": "3000",
        }  # fmt: skip
        environment.pop("RAY_ADDRESS")  # else the head would join itself
        with log_file.open("w") as log:
            subprocess.run(
                [sys.executable, "-m", "ray.scripts.scripts", "start", *arguments,
                 f"--node-ip-address={node}", "--num-cpus=2", "--num-gpus=0",
                 "--object-store-memory=80000000", "--disable-usage-stats",
                 f"--min-worker-port={lowest_port}", f"--max-worker-port={lowest_port + 999}",
                 f"--dashboard-agent-listen-port={free_port(node)}"],
                env=environment, stdout=log, stderr=log, timeout=_MAX_START_SECONDS, check=True,
                cwd=self.folder_of(node),
            )  # fmt: skip

    def _processes(self, node: str) -> list[int]:
        mark = f"{MARK}={self._name} {node}".encode()
        pids = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    pids.append(int(process.name))
        return pids


@contextmanager
def ray_cluster(variables: Mapping[str, Mapping[str, str]] | None = None) -> Iterator[RayCluster]:
    """Run two nodes during the block; ``variables``: node -> further environment variables."""
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))  # sockets have short names
    cluster = RayCluster(folder / "s", variables or {})
    try:
        cluster.start_head()
        cluster.start_other()
        yield cluster
    finally:
        for _ in range(3):  # a dying process may still write
            cluster.kill(OTHER)
            cluster.kill(HEAD)
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(0.5)
