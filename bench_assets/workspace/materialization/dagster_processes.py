"""Dagster's services: the web server, the daemon and the code server; health checks.

``bench ui`` runs all three on one machine, and logs to ``dagster/ui.log`` of the home. ``bench ui
web``, ``daemon`` and ``code`` run one of them each. ``supervisor`` starts them and keeps them
running.
"""

import errno
import socket
import subprocess
import sys
from pathlib import Path

import yaml

from bench_assets.core.schema.errors import SettingsError
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.environment import environment_of
from bench_resources.config.sections.models import DEMO_MODELS
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
        SettingsError: If the port is in use, or the port or host may not be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # free in TIME_WAIT
            probe.bind((host, port))
    except OSError as error:
        option = "--port" if error.errno in (errno.EADDRINUSE, errno.EACCES) else "--host"
        raise SettingsError(
            f"port {port} of {host} cannot be used ({error.strerror}). Choose another with {option}"
        ) from error


def write_workspace(home: Path, code: str) -> Path:
    """Write the file by which Dagster finds the graph; returns its path.

    ``code`` is ``HOST:PORT`` or the socket of a code server; "": the installed package.
    """
    location: dict[str, object] = {"location_name": LOCATION}
    if "/" in code:
        name = "workspace-of-ui.yaml"
        location |= {"socket": code}
    elif code:
        host, _, port = code.rpartition(":")
        name = f"workspace-{host}-{port}.yaml"
        location |= {"host": host, "port": int(port)}
    else:
        name = "workspace.yaml"
        location |= {"module_name": _GRAPH, "working_directory": str(home)}
    kind = "grpc_server" if code else "python_module"
    file = home / "dagster" / name
    with open_atomic(file, sync=False) as out:
        out.write(yaml.safe_dump({"load_from": [{kind: location}]}).encode())
    return file


_HEARTBEAT_SECONDS = 60.0  # s of tolerance, in addition to the 30 s between two heartbeats
_LOOPBACK_OF = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # where to reach a wildcard address


def _host_in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host  # IPv6


class Service:
    """One of Dagster's three services."""

    label = ""

    def __init__(self, home: Path, host: str, port: int, code: str = "") -> None:
        """Set the service's address.

        Args:
            home: The home folder.
            host: Address to listen on.
            port: Port to listen on; 0: none.
            code: ``HOST:PORT`` or socket of a code server; "": use the installed package.
        """
        self.home, self.host, self.port = home, host, port
        self._code = code

    @property
    def address(self) -> str:
        """Host and port of the service; "" if it does not listen."""
        return f"{_host_in_address(self.host)}:{self.port}" if self.port else ""

    def command(self) -> list[str]:
        """Command line of the process."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """Environment of the process."""
        return environment_of(self.home)

    def is_ready(self) -> bool:
        """Whether a started process can be used: by default, whether it is healthy."""
        return self.is_healthy()

    def is_healthy(self) -> bool:
        """Whether the process responds; may be expensive."""
        raise NotImplementedError

    def _workspace_options(self) -> list[str]:
        return ["-w", str(write_workspace(self.home, self._code))]


class Web(Service):
    """The web server of the UI."""

    label = "the web server"

    @property
    def address(self) -> str:
        """Address in a browser."""
        return f"http://{super().address}"

    def command(self) -> list[str]:
        """Command line of the process."""
        address = ["-h", self.host, "-p", str(self.port)]
        return [sys.executable, "-m", "dagster_webserver", *address, *self._workspace_options()]

    def is_healthy(self) -> bool:
        """Whether it serves pages."""
        host = _host_in_address(_LOOPBACK_OF.get(self.host, self.host))
        status, _ = fetch_page(f"http://{host}:{self.port}", "/server_info", timeout=5)
        return status == 200


class Daemon(Service):
    """The daemon: sensors, the run queue and run monitoring."""

    label = "the daemon"

    def command(self) -> list[str]:
        """Command line of the process."""
        return [*_DAEMON, "run", *self._workspace_options()]

    def is_healthy(self) -> bool:
        """Whether all daemons sent a heartbeat recently, from any machine; costs seconds."""
        folder = self.home / "dagster"
        tolerance = {"DAGSTER_DAEMON_HEARTBEAT_TOLERANCE": f"{_HEARTBEAT_SECONDS:.0f}"}
        return (folder / "dagster.yaml").is_file() and _succeeds(
            [*_DAEMON, "liveness-check"], self.environment() | tolerance
        )


class CodeServer(Service):
    """The code server, which also starts local runs."""

    label = "the code server"

    def command(self) -> list[str]:
        """Command line of the process."""
        address = [*self._address_options(self.host), "--location-name", LOCATION]
        graph = ["-m", _GRAPH, "-d", str(self.home)]
        return [sys.executable, "-m", "dagster", "api", "grpc", *address, *graph]

    def is_ready(self) -> bool:
        """Whether the graph is loaded: only then is the socket made."""
        return Path(self._code).is_socket() if self._code else self.is_healthy()

    def is_healthy(self) -> bool:
        """Whether it responds; costs a second."""
        address = self._address_options(_LOOPBACK_OF.get(self.host, self.host))
        return _succeeds([sys.executable, "-m", "dagster", "api", "grpc-health-check", *address])

    def _address_options(self, host: str) -> list[str]:
        if self._code:
            return ["-s", self._code]
        return ["-h", _host_in_address(host), "-p", str(self.port)]


def ui_services(home: Path, port: int, socket_folder: Path) -> list[Service]:
    """Build the three services of one machine, in the order of their start.

    The web server listens on loopback. Only this user may enter ``socket_folder``, because anybody
    who reaches the code server can run code.
    """
    code = str(socket_folder / "code")
    return [
        CodeServer(home, host=_HOST, port=0, code=code),
        Web(home, host=_HOST, port=port, code=code),
        Daemon(home, host=_HOST, port=0, code=code),
    ]


def add_every_model(bench: Workbench) -> int:
    """Add every model's and encoder's partition, observe all suites; returns how many models."""
    models = {*DEMO_MODELS, *bench.settings.models}
    bench.add_models(list(models))
    bench.add_encoders()
    bench.observe([])
    return len(models)


def _succeeds(command: list[str], environment: dict[str, str] | None = None) -> bool:
    try:
        subprocess.run(
            command, env=environment, capture_output=True, check=True, timeout=_CHECK_SECONDS
        )
    except subprocess.SubprocessError:
        return False
    return True
