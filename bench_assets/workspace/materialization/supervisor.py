"""Keeps Dagster's services running, each independently of the others and of the runs.

A service has a process session of its own, so that no signal for one reaches another or a run. A
service that ends is started again, with growing pauses; a service that does not respond is ended
first. When this process ends, a ``process_watchdog`` ends each service and leaves the runs.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Self

from bench_assets.core.schema.errors import HomeError, SettingsError
from bench_assets.workspace.console.output import print_message
from bench_assets.workspace.materialization.dagster_processes import Service, ui_services
from bench_resources.config.bench_toml import load_settings
from bench_resources.models.managed import process_watchdog

_PAUSES = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0)  # s before a restart, from one failure to the next
_GOOD_SECONDS = 60.0  # s of running, after which the next pause is the shortest again
_POLL_SECONDS = 0.5  # s between two polls of the services
_HEALTH_SECONDS = 300.0  # s between two health checks, each a process of a CPU-second
_DOUBT_SECONDS = 30.0  # s to the next health check after a failed one
_MAX_UNHEALTHY = 3  # failed health checks in a row, after which a service is restarted
_END_SECONDS = process_watchdog.PATIENCE + 5.0
_LOG_BYTES = 20_000_000  # bytes of the log; the one before it is kept
_LOG_LINES = 8  # last lines of the log that an error shows


class _ServiceState:
    """A service and its present process."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.process: subprocess.Popen[bytes] | None = None
        self.started_at = 0.0  # time.monotonic(), as the next two
        self.restart_at = 0.0
        self.next_check = 0.0
        self.n_failures = 0  # short runs in a row
        self.n_unhealthy = 0  # failed health checks in a row

    def start(self, log: Path | None) -> None:
        """Start the process under its watchdog; its output goes to a log, or to our own output."""
        watched = [sys.executable, "-I", "-S", process_watchdog.__file__, "--alone"]
        try:
            with log.open("ab") if log else nullcontext() as output:
                self.process = subprocess.Popen(
                    [*watched, *self.service.command()],
                    cwd=self.service.home,  # so that no local module hides a package
                    env=self.service.environment(),
                    stdin=subprocess.PIPE,  # closed when we end
                    stdout=output,
                    stderr=subprocess.STDOUT if log else None,
                    start_new_session=True,  # no signals from the terminal, only ours
                )
        except OSError as error:
            raise HomeError(f"{error.filename}: {error.strerror}") from error
        self.started_at, self.n_unhealthy = time.monotonic(), 0
        self.next_check = self.started_at + _HEALTH_SECONDS

    def request_end(self) -> None:
        """Close the watchdog's input: it interrupts the service, and kills it if need be."""
        if self.process and self.process.stdin:
            self.process.stdin.close()

    def wait_for_end(self) -> None:
        if self.process:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_END_SECONDS)
            self.process.kill()
            self.process.wait()


class Supervisor:
    """Starts services and keeps them running; a context manager that ends them."""

    def __init__(self, services: Sequence[Service], log: Path | None = None) -> None:
        """Choose the services.

        Args:
            services: In the order of their start; each waits until the one before is ready.
            log: File of their output; None: our own output.

        Raises:
            SettingsError: If runs start in Kubernetes, where Dagster's Helm chart provides them.
        """
        self._states = [_ServiceState(service) for service in services]
        self._log = log
        settings = load_settings(services[0].home)
        if settings.cluster.launcher == "k8s":
            raise SettingsError(
                f'{settings.file}, entry cluster.launcher: with "k8s", {services[0].label} comes'
                " from Dagster's Helm chart (deploy/values.yaml); started here, it would run"
                " everything on this machine"
            )

    def __enter__(self) -> Self:
        """Use the supervisor; nothing is started yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the services, the last started first. Their runs go on."""
        for state in reversed(self._states):
            state.request_end()
        for state in self._states:
            state.wait_for_end()

    def start(self) -> None:
        """Start the services; does not wait for the last.

        Raises:
            HomeError: If one ends before it is ready; shows the end of the log.
        """
        if self._log:
            self._log.write_bytes(b"")
        for index, state in enumerate(self._states):
            if index:
                self._wait_until_ready(self._states[index - 1])
            state.start(self._log)

    def wait_until_ready(self) -> None:
        """Wait until the last service is ready.

        Raises:
            HomeError: If it ends before.
        """
        self._wait_until_ready(self._states[-1])

    def supervise(self) -> None:
        """Tend the services until a signal."""
        while True:
            self.tend()
            time.sleep(_POLL_SECONDS)

    def tend(self) -> None:
        """Start services again that have ended, and end those that do not respond."""
        for state in self._states:
            self._tend(state)

    def _wait_until_ready(self, state: _ServiceState) -> None:
        process = state.process
        assert process is not None  # it was started
        while not state.service.is_ready():
            try:
                code = process.wait(_POLL_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            raise HomeError(self._describe_end(state.service.label, code))

    def _tend(self, state: _ServiceState) -> None:
        """Start a service that has ended after a pause; check the health of a running one."""
        now = time.monotonic()
        if state.process is None:
            if now >= state.restart_at:
                state.start(self._log)
        elif (code := state.process.poll()) is not None:
            ran_long = now - state.started_at > _GOOD_SECONDS
            state.n_failures = 0 if ran_long else state.n_failures + 1
            pause = _PAUSES[min(state.n_failures, len(_PAUSES) - 1)]
            label = state.service.label
            self._report(f"{label} ended (code {code}); it starts again in {pause:.0f} s")
            state.process, state.restart_at = None, now + pause
        elif now >= state.next_check:
            self._shorten_log()
            self._check_health(state)

    def _check_health(self, state: _ServiceState) -> None:
        """Check whether a service responds, and end it after several failed checks in a row."""
        is_healthy = state.service.is_healthy()
        state.n_unhealthy = 0 if is_healthy else state.n_unhealthy + 1
        pause = _HEALTH_SECONDS if is_healthy else _DOUBT_SECONDS
        state.next_check = time.monotonic() + pause
        if state.n_unhealthy == _MAX_UNHEALTHY:
            self._report(f"{state.service.label} does not respond; it is ended")
            state.request_end()
            state.wait_for_end()

    def _report(self, message: str) -> None:
        print_message(message)
        if self._log:
            with self._log.open("a", encoding="utf-8") as log:
                log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {message}\n")

    def _shorten_log(self) -> None:
        if self._log and self._log.exists() and self._log.stat().st_size > _LOG_BYTES:
            shutil.copyfile(self._log, self._log.with_suffix(".log.1"))
            with self._log.open("r+b") as log:  # in place: the services hold it open
                log.truncate()

    def _describe_end(self, label: str, code: int) -> str:
        """Message about an exit, with the end of the log."""
        message = f"{label} exited unexpectedly (code {code})"
        if self._log is None:
            return message
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n  ".join([f"{message}; {self._log}:", *lines[-_LOG_LINES:]])


@contextmanager
def supervise_ui(home: Path, port: int) -> Generator[Supervisor]:
    """Supervise the three services of one machine, which write ``dagster/ui.log`` of the home.

    Once they are started, the UI responds on loopback at ``port``.
    """
    with (
        tempfile.TemporaryDirectory(prefix="bench-ui-", ignore_cleanup_errors=True) as folder,
        Supervisor(
            ui_services(home, port, Path(folder)), home / "dagster" / "ui.log"
        ) as supervisor,
    ):
        yield supervisor
