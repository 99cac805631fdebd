"""Processes of Dagster: the UI, the web server, the daemon and the code server; health checks.

``bench ui`` runs all three services on one machine, and logs to ``dagster/ui.log`` of the home.
``bench ui web``, ``daemon`` and ``code`` run one of them each, for a supervisor that restarts
services separately. A ``process_watchdog`` ends each process when this process ends.
"""

import socket
import subprocess
import sys
import webbrowser
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Self

import yaml

from bench_assets.core.schema.errors import HomeError, SettingsError
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.environment import environment_of
from bench_resources.config.sections.models import EMBEDDED_MODELS
from bench_resources.http.pages import fetch_page
from bench_resources.models.managed import process_watchdog
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
_POLL_SECONDS = 0.5  # s between two health checks
_KILL_SECONDS = 10.0  # s for the watchdog to kill what is left
_LOG_LINES = 8  # last lines of the log, in errors


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


def is_reachable(host: str, port: int, path: str) -> bool:
    """Whether a server's path returns success."""
    return fetch_page(f"http://{host}:{port}", path, timeout=5)[0] == 200


def write_workspace(home: Path, code: str = "") -> Path:
    """Write the file that tells Dagster where the graph is.

    Args:
        home: The home folder.
        code: ``HOST:PORT`` of a code server; "": the installed package.
    """
    host, _, port = code.rpartition(":")
    graph: dict[str, object] = {"location_name": LOCATION}
    if code:
        graph |= {"host": host, "port": int(port)}
    else:
        graph |= {"module_name": _GRAPH, "working_directory": str(home)}
    name = f"workspace-{host}-{port}.yaml".replace("/", "-") if code else "workspace.yaml"
    kind = "grpc_server" if code else "python_module"
    with open_atomic(home / "dagster" / name, sync=False) as out:
        out.write(yaml.safe_dump({"load_from": [{kind: graph}]}).encode())
    return home / "dagster" / name


class UiProcess:
    """The UI process, as a context manager; refuses a port that is in use."""

    what = "the UI"
    health = "/server_info"  # path that is served once it is ready

    def __init__(self, home: Path, port: int) -> None:
        self.log: Path | None = home / "dagster" / "ui.log"  # None: logs to our own output
        self.address = f"http://{_HOST}:{port}"
        self.port = port
        self.home = home

    def command(self) -> list[str]:
        """Command line of the process."""
        at = ["-h", _HOST, "-p", str(self.port)]
        return [sys.executable, "-m", "dagster", "dev", "-w", str(write_workspace(self.home)), *at]

    def environment(self) -> dict[str, str]:
        """Environment of the process."""
        return environment_of(self.home)

    def __enter__(self) -> Self:
        """Start the process.

        Raises:
            SettingsError: If runs start in Kubernetes, where Dagster's Helm chart provides them.
            HomeError: If its log cannot be written.
        """
        settings = load_settings(self.home)
        if settings.cluster.launcher == "k8s":
            raise SettingsError(
                f'{settings.file}, entry cluster.launcher: with "k8s", {self.what} comes from'
                " Dagster's Helm chart (deploy/values.yaml); started here, it would run everything"
                " on this machine"
            )
        watched = [sys.executable, "-I", "-S", process_watchdog.__file__, "--interrupt"]
        try:
            with self.log.open("wb") if self.log else nullcontext() as log:
                self._process = subprocess.Popen(
                    [*watched, *self.command()],
                    cwd=self.home,  # so that no local module hides a package
                    env=self.environment(),
                    stdin=subprocess.PIPE,  # closed when we end
                    stdout=log,
                    stderr=subprocess.STDOUT if log else None,
                    start_new_session=True,  # no signals from the terminal, only ours
                )
        except OSError as error:
            raise HomeError(f"{error.filename}: {error.strerror}") from error
        return self

    def __exit__(self, *_: object) -> None:
        """End the process and its children."""
        assert self._process.stdin is not None
        self._process.stdin.close()  # the watchdog then interrupts the process, later kills it
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(process_watchdog.INTERRUPT_PATIENCE + _KILL_SECONDS)
        self._process.kill()
        self._process.wait()

    def wait_for_answer(self) -> None:
        """Wait until the UI responds.

        Raises:
            HomeError: If the process ended; shows the end of its log.
        """
        while not self._answers():
            self._require_running(_POLL_SECONDS)

    def wait_for_end(self) -> None:
        """Wait until the process ends.

        Raises:
            HomeError: If it ended on its own.
        """
        while True:
            self._require_running(None)

    def browse(self) -> None:
        """Open the UI in a web browser, if there is one."""
        webbrowser.open(self.address)

    def _answers(self) -> bool:
        return is_reachable(_HOST, self.port, self.health)

    def _require_running(self, seconds: float | None) -> None:
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return
        if self.log is None:
            raise HomeError(f"{self.what} exited unexpectedly (code {code})")
        last = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:]
        raise HomeError(
            "\n  ".join([f"{self.what} exited unexpectedly (code {code}); {self.log}:", *last])
        )


_HEARTBEAT_SECONDS = 60.0  # s of tolerance, in addition to the 30 s between two heartbeats
_LOOPBACK_OF = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # where to reach a wildcard address


class Service(UiProcess):
    """One of Dagster's three services, which logs to the output of this process."""

    scheme = ""

    def __init__(self, home: Path, host: str, port: int, code: str = "") -> None:
        """Set the service's address.

        Args:
            home: The home folder.
            host: Address to listen on.
            port: Port to listen on.
            code: ``HOST:PORT`` of a running code server; "": use the installed package.
        """
        super().__init__(home, port)
        self.log = None
        self.host = host
        self.address = f"{self.scheme}{host}:{port}"
        self._code = code

    def _workspace(self) -> list[str]:
        return ["-w", str(write_workspace(self.home, self._code))]


class Web(Service):
    """The web server of the UI."""

    what = "the web server"
    scheme = "http://"

    def command(self) -> list[str]:
        """Command line of the process."""
        at = ["-h", self.host, "-p", str(self.port)]
        return [sys.executable, "-m", "dagster_webserver", *at, *self._workspace()]

    def _answers(self) -> bool:
        return is_web_healthy(self.host, self.port)


class Daemon(Service):
    """The daemon: sensors, the run queue and run monitoring."""

    what = "the daemon"

    def command(self) -> list[str]:
        """Command line of the process."""
        return [*_DAEMON, "run", *self._workspace()]

    def _answers(self) -> bool:
        return is_daemon_healthy(self.home)


class CodeServer(Service):
    """The code server, which also starts local runs."""

    what = "the code server"

    def command(self) -> list[str]:
        """Command line of the process."""
        at = ["-h", self.host, "-p", str(self.port), "--location-name", LOCATION]
        graph = ["-m", _GRAPH, "-d", str(self.home)]
        return [sys.executable, "-m", "dagster", "api", "grpc", *at, *graph]

    def _answers(self) -> bool:
        return is_code_server_healthy(self.host, self.port)


def add_every_model(bench: Workbench) -> int:
    """Add a partition for every model and encoder; returns the number of models."""
    models = {**EMBEDDED_MODELS, **bench.settings.models}
    bench.add_models(list(models))
    bench.add_encoders()
    return len(models)


def is_web_healthy(host: str, port: int) -> bool:
    """Whether the web server is healthy."""
    return is_reachable(_LOOPBACK_OF.get(host, host), port, UiProcess.health)


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


def is_code_server_healthy(host: str, port: int) -> bool:
    """Whether the code server is healthy."""
    at = ["-p", str(port), "-h", _LOOPBACK_OF.get(host, host)]
    return _succeeds([sys.executable, "-m", "dagster", "api", "grpc-health-check", *at])


def _succeeds(command: list[str], environment: dict[str, str] | None = None) -> bool:
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    return done.returncode == 0
