"""Dagster's services: the web server, the daemon and the code server; health checks.

``bench ui`` runs all three on one machine, and logs to ``dagster/ui.log`` of the home. ``bench ui
web``, ``daemon`` and ``code`` run one of them each. ``supervisor`` starts them and keeps them
running.
"""

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from bench_assets.core.schema.errors import SettingsError
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.environment import environment_of
from bench_resources.config.sections.models import EMBEDDED_MODELS
from bench_resources.http.pages import fetch_page
from bench_resources.runs.run_pools import LOCATION
from bench_resources.storage.atomic_write import open_atomic

_HOST = "127.0.0.1"
_GRAPH = "bench_assets.definitions"
_DAEMON = [
    *(sys.executable, "-c"),
    "from importlib.metadata import entry_points as found;"
    "found(group='console_scripts', name='dagster-daemon')['dagster-daemon'].load()()",
]
"""``dagster-daemon`` by its entry point, since its script may not be on the path."""
_CHECK_SECONDS = 60.0  # s that a health check may take


def require_free(port: int, host: str = _HOST) -> None:
    """Check that a port is free, before anything is started.

    Raises:
        SettingsError: If the port is in use, or may not be used.
    """
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port in TIME_WAIT is free
        try:
            one.bind((host, port))
        except OSError as error:
            raise SettingsError(
                f"port {port} of {host} cannot be used ({error.strerror})."
                " Choose another with --port"
            ) from error


def write_workspace(home: Path, code: str = "") -> Path:
    """Write the file that tells Dagster where the graph is.

    Args:
        home: The home folder.
        code: ``HOST:PORT`` or socket of a code server; "": the installed package.
    """
    host, _, port = code.rpartition(":")
    graph: dict[str, object] = {"location_name": LOCATION}
    if "/" in code:
        graph |= {"socket": code}
        host, port = "of", "ui"
    elif code:
        graph |= {"host": host, "port": int(port)}
    else:
        graph |= {"module_name": _GRAPH, "working_directory": str(home)}
    name = f"workspace-{host}-{port}.yaml".replace("/", "-") if code else "workspace.yaml"
    kind = "grpc_server" if code else "python_module"
    with open_atomic(home / "dagster" / name, sync=False) as out:
        out.write(yaml.safe_dump({"load_from": [{kind: graph}]}).encode())
    return home / "dagster" / name


_HEARTBEAT_SECONDS = 60.0  # s of tolerance, in addition to the 30 s between two heartbeats
_LOOPBACK_OF = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # where to reach a wildcard address


class Service:
    """One of Dagster's three services."""

    what = ""

    def __init__(self, home: Path, host: str, port: int, code: str = "") -> None:
        """Set the service's address.

        Args:
            home: The home folder.
            host: Address to listen on.
            port: Port to listen on.
            code: ``HOST:PORT`` or socket of a code server; "": use the installed package.
        """
        self.home, self.host, self.port = home, host, port
        self._code = code

    @property
    def address(self) -> str:
        """Where it is reached; "" if it does not listen."""
        return f"{self.host}:{self.port}" if self.port else ""

    def command(self) -> list[str]:
        """Command line of the process."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """Environment of the process."""
        return environment_of(self.home)

    def is_ready(self) -> bool:
        """Whether a started process can be used; asked often."""
        return self.is_healthy()

    def is_healthy(self) -> bool:
        """Whether the process responds; asked seldom."""
        raise NotImplementedError

    def _workspace(self) -> list[str]:
        return ["-w", str(write_workspace(self.home, self._code))]


class Web(Service):
    """The web server of the UI."""

    what = "the web server"

    @property
    def address(self) -> str:
        """Address in a browser."""
        return f"http://{self.host}:{self.port}"

    def command(self) -> list[str]:
        """Command line of the process."""
        at = ["-h", self.host, "-p", str(self.port)]
        return [sys.executable, "-m", "dagster_webserver", *at, *self._workspace()]

    def is_healthy(self) -> bool:
        """Whether it serves pages."""
        return is_web_healthy(self.host, self.port)


class Daemon(Service):
    """The daemon: sensors, the run queue and run monitoring."""

    what = "the daemon"

    def command(self) -> list[str]:
        """Command line of the process."""
        return [*_DAEMON, "run", *self._workspace()]

    def is_healthy(self) -> bool:
        """Whether it sent heartbeats; costs seconds."""
        return is_daemon_healthy(self.home)


class CodeServer(Service):
    """The code server, which also starts local runs."""

    what = "the code server"

    def command(self) -> list[str]:
        """Command line of the process."""
        at = [*_grpc_options(self._code or self.address), "--location-name", LOCATION]
        graph = ["-m", _GRAPH, "-d", str(self.home)]
        return [sys.executable, "-m", "dagster", "api", "grpc", *at, *graph]

    def is_ready(self) -> bool:
        """Whether it listens, which it does once the graph is loaded."""
        if not self._code:
            host = _LOOPBACK_OF.get(self.host, self.host)
            return _connects(socket.create_connection, (host, self.port))
        with socket.socket(socket.AF_UNIX) as client:
            return _connects(client.connect, self._code)

    def is_healthy(self) -> bool:
        """Whether it responds; costs a second."""
        return is_code_server_healthy(self._code or self.address)


def ui_services(home: Path, port: int, socket_folder: Path) -> list[Service]:
    """Build the three services of one machine, in the order of their start.

    Args:
        home: The home folder.
        port: Port of the web server on loopback.
        socket_folder: Folder that only this user may enter: who reaches the code server runs code.
    """
    code = str(socket_folder / "code")
    return [
        CodeServer(home, _HOST, 0, code),
        Web(home, _HOST, port, code),
        Daemon(home, _HOST, 0, code),
    ]


def add_every_model(bench: Workbench) -> int:
    """Add a partition for every model and encoder; returns the number of models."""
    models = {**EMBEDDED_MODELS, **bench.settings.models}
    bench.add_models(list(models))
    bench.add_encoders()
    return len(models)


def is_web_healthy(host: str, port: int) -> bool:
    """Whether the web server is healthy."""
    host = _LOOPBACK_OF.get(host, host)
    return fetch_page(f"http://{host}:{port}", "/server_info", timeout=5)[0] == 200


def is_daemon_healthy(home: Path) -> bool:
    """Whether all daemons sent a heartbeat recently, from any machine."""
    folder = home / "dagster"
    if not (folder / "dagster.yaml").is_file():
        return False
    more = {
        "DAGSTER_HOME": str(folder),
        "DAGSTER_DAEMON_HEARTBEAT_TOLERANCE": f"{_HEARTBEAT_SECONDS:.0f}",
    }
    return _succeeds([*_DAEMON, "liveness-check"], environment_of(home) | more)


def is_code_server_healthy(address: str) -> bool:
    """Whether the code server of an address, or of a socket, is healthy."""
    host, colon, port = address.rpartition(":")
    at = _grpc_options(f"{_LOOPBACK_OF.get(host, host)}{colon}{port}")
    return _succeeds([sys.executable, "-m", "dagster", "api", "grpc-health-check", *at])


def _grpc_options(address: str) -> list[str]:
    """Options of Dagster's commands for ``HOST:PORT``, or for the path of a socket."""
    host, _, port = address.rpartition(":")
    return ["-s", address] if "/" in address else ["-h", host, "-p", port]


def _connects(connect: Callable[[Any], object], address: object) -> bool:
    try:
        connection = connect(address)
    except OSError:
        return False
    if isinstance(connection, socket.socket):
        connection.close()
    return True


def _succeeds(command: list[str], environment: dict[str, str] | None = None) -> bool:
    try:
        subprocess.run(
            command, env=environment, capture_output=True, check=True, timeout=_CHECK_SECONDS
        )
    except subprocess.SubprocessError:
        return False
    return True
