"""A Slurm cluster for tests: a controller and two nodes of two CPUs and a fake GPU each.

All daemons run on this machine as root, as only root may start daemons that change users.
"""

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.fakes.ports import free_port
from tests.fakes.ray_cluster import HEAD, OTHER

NODES = {HEAD: "n1", OTHER: "n2"}
_PROGRAMS = ("sbatch", "squeue", "scancel", "scontrol", "slurmctld", "slurmd", "munged")
_MAX_START_SECONDS = 60.0
_CONF = Path(__file__).with_name("slurm.conf").read_text(encoding="utf-8")
_NODE = "CPUs=2 RealMemory=4000 Gres=gpu:fake:1"
_GRES = "NodeName=n[1-2] Name=gpu Type=fake File=/dev/null\n"


class SlurmCluster:
    """A controller and two nodes."""

    toml = '[cluster]\nlauncher = "slurm"\npartition = "all"\nsbatch = ["--time=60"]\n'

    def __init__(self, folder: Path) -> None:
        missing = [name for name in _PROGRAMS if not shutil.which(name, path=_path())]
        if missing or os.getuid():
            pytest.skip(f"no {' '.join(missing) or 'root'} here: apt-get install slurm-wlm munge")
        self.folder = folder
        self.variables = {"SLURM_CONF": str(folder / "slurm.conf")}
        """Environment variables with which a process reaches the cluster."""

    def start(self) -> None:
        """Start all daemons, and wait until both nodes are idle."""
        self._start_munge()
        for name in ("state", "spool-n1", "spool-n2"):
            (self.folder / name).mkdir()
        ports = {name: free_port() for name in ("ctld", "one", "two")}
        conf = _CONF.format(folder=self.folder, each=_NODE, **ports)
        (self.folder / "slurm.conf").write_text(conf)
        (self.folder / "gres.conf").write_text(_GRES)
        self.start_controller()
        for node in NODES:
            self._start_node(node)
        deadline = time.monotonic() + _MAX_START_SECONDS
        while self.output("sinfo", "-h", "-o", "%T") != "idle":
            assert time.monotonic() < deadline, self.output("sinfo", "-R")
            time.sleep(0.2)

    def start_controller(self) -> None:
        self.output("slurmctld")

    def stop_controller(self) -> None:
        """Kill the controller; its jobs go on."""
        os.kill(int((self.folder / "slurmctld.pid").read_text()), signal.SIGKILL)

    def start_other(self) -> None:
        """Tell the controller that the second node was down, and start the node again."""
        self.output("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=killed")
        self._start_node(OTHER)

    def kill(self, node: str) -> None:
        """Kill all processes of a node, as a failure of its machine does."""
        name = NODES[node]
        for _ in range(20):  # a dying process may be starting others
            pids = self._processes(name)
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not pids:
                return
            time.sleep(0.05)

    def output(self, *command: str) -> str:
        """The output of a program of Slurm."""
        process = subprocess.run(
            command, env={**os.environ, **self.variables, "PATH": _path()},
            capture_output=True, text=True, check=True, timeout=_MAX_START_SECONDS,
        )  # fmt: skip
        return process.stdout.strip()

    def stop(self) -> None:
        """End all processes."""
        for node in NODES:
            self.kill(node)
        with suppress(OSError, ValueError):
            self.stop_controller()
        with suppress(OSError, ValueError):
            os.kill(int((self.folder / "munge" / "pid").read_text()), signal.SIGTERM)

    def _start_node(self, node: str) -> None:
        self.output("slurmd", "-N", NODES[node])

    def _start_munge(self) -> None:
        folder = self.folder / "munge"
        folder.mkdir(mode=0o755)
        (folder / "key").write_bytes(secrets.token_bytes(128))
        (folder / "key").chmod(0o400)
        for path in (folder, folder / "key"):
            shutil.chown(path, "munge", "munge")
        options = {"socket": "munge.socket", "key-file": "key", "pid-file": "pid"}
        options |= {"log-file": "log", "seed-file": "seed"}
        arguments = [f"--{name}={folder / file}" for name, file in options.items()]
        subprocess.run(
            [shutil.which("munged", path=_path()) or "", "--force", *arguments],
            user="munge", check=True, capture_output=True,
        )  # fmt: skip

    def _processes(self, name: str) -> list[int]:
        cluster_variable = f"SLURM_CONF={self.variables['SLURM_CONF']}".encode()
        node_variable = f"SLURMD_NODENAME={name}".encode()
        pids = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                environment = (process / "environ").read_bytes().split(b"\0")
                if cluster_variable not in environment:
                    continue
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").strip()
                if node_variable in environment or command.endswith(f"slurmd -N {name}".encode()):
                    pids.append(int(process.name))
        return pids


def _path() -> str:
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


@contextmanager
def slurm_cluster() -> Iterator[SlurmCluster]:
    """Run a cluster during the block, with its variables in the environment."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    folder.chmod(0o755)  # munged is another user
    cluster = SlurmCluster(folder)
    before = os.environ.get("SLURM_CONF")
    os.environ.update(cluster.variables)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        if before is None:
            del os.environ["SLURM_CONF"]
        shutil.rmtree(folder, ignore_errors=True)
