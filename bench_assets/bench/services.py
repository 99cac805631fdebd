"""Dagster's web server, daemon and code server, each a process of its own, and their health.

``bench ui`` is all three on one machine. Apart, each runs where it fits, is watched by what watches
services, and is started anew without the others.
"""

import sys
from pathlib import Path

import dagster as dg
import yaml
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._daemon.controller import all_daemons_live
from dagster._grpc.client import DagsterGrpcClient

from bench_assets.bench.serving import Served, answers
from bench_assets.bench.workbench import Workbench
from resources.disk.writing import written_aside
from resources.home.run_origins import LOCATION
from resources.settings.environment import CHECKOUT
from resources.settings.model_specs import EMBEDDED_MODELS

_LATE = 60.0  # s that a daemon may say nothing, beside the 30 between two words
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # where to knock at such


class Service(Served):
    """One of the three; says what it has to say where we do."""

    scheme = ""

    def __init__(self, home: Path, host: str, port: int, code: str = "") -> None:
        """Say where it is to be.

        Args:
            home: A home folder.
            host: Address that it listens on.
            port: And its port.
            code: ``HOST:PORT`` of a code server; "": it has one of its own.
        """
        super().__init__(home, port)
        self.log = None
        self.host = host
        self.address = f"{self.scheme}{host}:{port}"
        self._code = code

    def _workspace(self) -> list[str]:
        """Where the graph is: a file of the checkout, or one that names the code server."""
        if not self._code:
            return ["-w", str(CHECKOUT / "workspace.yaml")]
        host, _, port = self._code.rpartition(":")
        server = {"host": host, "port": int(port), "location_name": LOCATION}
        file = self.home / "dagster" / f"workspace-{host}-{port}.yaml".replace("/", "-")
        with written_aside(file, sync=False) as out:
            out.write(yaml.safe_dump({"load_from": [{"grpc_server": server}]}).encode())
        return ["-w", str(file)]


class Web(Service):
    """What shows the UI."""

    what = "the web server"
    scheme = "http://"

    def command(self) -> list[str]:
        """What is started."""
        at = ["-h", self.host, "-p", str(self.port)]
        return [sys.executable, "-m", "dagster_webserver", *at, *self._workspace()]

    def _answers(self) -> bool:
        return web_answers(self.host, self.port)


class Daemon(Service):
    """What ticks sensors, takes runs from the queue and looks after them."""

    what = "the daemon"

    def command(self) -> list[str]:
        """What is started."""
        return [sys.executable, "-m", "dagster._daemon", "run", *self._workspace()]

    def _answers(self) -> bool:
        return daemon_lives(self.home)


class Code(Service):
    """What knows the graph, and starts runs where the launcher is the local one."""

    what = "the code server"

    def command(self) -> list[str]:
        """What is started."""
        at = ["-h", self.host, "-p", str(self.port), "--location-name", LOCATION]
        graph = ["-m", "bench_assets.definitions", "-d", str(CHECKOUT)]
        return [sys.executable, "-m", "dagster", "api", "grpc", *at, *graph]

    def _answers(self) -> bool:
        return code_answers(self.host, self.port)


def add_every_model(bench: Workbench) -> int:
    """Make partitions of all that could be asked; says how many models that are."""
    models = {**EMBEDDED_MODELS, **bench.settings.models}
    bench.add_models(list(models))
    bench.add_encoders()
    return len(models)


def web_answers(host: str, port: int) -> bool:
    """Whether the web server is well."""
    return answers(_EVERYWHERE.get(host, host), port, Served.health)


def daemon_lives(home: Path) -> bool:
    """Whether every part of the daemon, wherever it runs, said something a moment ago."""
    folder = home / "dagster"
    if not (folder / "dagster.yaml").is_file():
        return False
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        return all_daemons_live(instance, heartbeat_tolerance_seconds=_LATE)


def code_answers(host: str, port: int) -> bool:
    """Whether the code server is well."""
    try:
        DagsterGrpcClient(port=port, host=_EVERYWHERE.get(host, host)).ping("")
    except DagsterUserCodeUnreachableError:
        return False
    return True
