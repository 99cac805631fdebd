"""Figures with their bounds, and commands whose time and memory are measured."""

import os
import subprocess
import sys
import tempfile
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from pathlib import Path
from time import monotonic

BENCH = Path(sys.executable).parent / "bench"


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value; has at most one of the three bounds."""

    title: str
    value: float
    _: KW_ONLY
    at_most: float | None = None
    at_least: float | None = None
    exactly: float | None = None
    unit: str = ""

    @property
    def holds(self) -> bool:
        """Whether the value is within its bound; true without one."""
        if self.exactly is not None:
            return self.value == self.exactly
        if self.at_least is not None:
            return self.value >= self.at_least
        return self.at_most is None or self.value <= self.at_most

    @property
    def bound(self) -> str:
        """The bound with its sign and unit, such as ``<= 4 s``; empty without one."""
        limits = {"<=": self.at_most, ">=": self.at_least, "=": self.exactly}
        return "".join(
            f"{sign} {limit:g} {self.unit}" for sign, limit in limits.items() if limit is not None
        )


def run_measurement(name: str) -> list[Figure]:
    """Call ``measure`` of a module of this package with a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return list(import_module(f"benchmarks.{name}").measure(Path(folder)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A command that ended with the expected exit code."""

    started: float  # s on the monotonic clock
    wall_seconds: float
    cpu_seconds: float  # of the process and the child processes that it waited for
    peak_mib: float  # resident
    output: str  # stdout and stderr

    @property
    def ended(self) -> float:
        """Seconds on the monotonic clock."""
        return self.started + self.wall_seconds


def run_bench(home: Path, *arguments: str, exit_code: int = 0) -> Run:
    """Run ``bench`` on a home folder; see ``run_command``."""
    return run_command(home, str(BENCH), *arguments, exit_code=exit_code)


def run_command(home: Path, *command: str, exit_code: int = 0) -> Run:
    """Run a command on a home folder, with its output in a ``.log`` file beside the folder.

    Raises:
        RuntimeError: If it ends with another exit code.
    """
    log, started = home.with_suffix(".log"), monotonic()
    with log.open("wb") as output_file:
        process = start_command(home, *command, output=output_file.fileno())
        _, status, usage = os.wait4(process.pid, 0)
    wall_seconds = monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    output = log.read_text(errors="replace")
    if process.returncode != exit_code:
        name = Path(command[0]).name
        raise RuntimeError(f"{name}: exit code {process.returncode}, not {exit_code}:\n{output}")
    return Run(
        started=started,
        wall_seconds=wall_seconds,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        peak_mib=usage.ru_maxrss / 1024,
        output=output,
    )


def measure_import(module: str, folder: Path) -> float:
    """CPU seconds of a process that imports a module and ends: the least of three."""
    command = (sys.executable, "-c", f"import {module}")
    return min(run_command(folder / "home", *command).cpu_seconds for _ in range(3))


def start_command(home: Path, *command: str, output: int) -> "subprocess.Popen[bytes]":
    """Start a command on a home folder, with stdout and stderr in a file descriptor."""
    environment = {**os.environ, "BENCH_HOME": str(home)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # which makes each process compile bench
    return subprocess.Popen(command, env=environment, stdout=output, stderr=output)
