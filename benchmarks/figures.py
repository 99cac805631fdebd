"""A measured figure and its bound; a run of ``bench`` and what it took."""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import monotonic

BENCH = Path(sys.executable).parent / "bench"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the table."""

    what: str
    value: float
    most: float | None = None  # the bound; None for what is only told
    least: float | None = None  # a bound from below, of what has none from above
    exactly: bool = False  # the value must be the bound, no less
    unit: str = ""

    @property
    def holds(self) -> bool:
        """Whether the bound is kept."""
        if self.most is None:
            return self.least is None or self.value >= self.least
        return self.value == self.most if self.exactly else self.value <= self.most


def measured(name: str) -> list[Figure]:
    """Run one measurement; here, because a new process finds nothing in ``__main__``."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return list(import_module(f"benchmarks.{name}").measure(Path(folder)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished process."""

    started: float  # s on the monotonic clock
    wall: float  # s
    cpu: float  # s, of the process and those that it waited for
    peak_mb: float  # MiB, resident
    status: int
    output: str

    @property
    def ended(self) -> float:
        """On the monotonic clock, s."""
        return self.started + self.wall


def run(home: Path, *arguments: str) -> Run:
    """Run ``bench`` in a process of its own."""
    return run_command(home, str(BENCH), *arguments)


def run_command(home: Path, *command: str) -> Run:
    """Run a program over a home folder; its output goes to a file beside."""
    log, started = home.with_suffix(".log"), monotonic()
    with log.open("wb") as output:
        process = start(home, *command, output=output.fileno())
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Run(
        started=started,
        wall=monotonic() - started,
        cpu=used.ru_utime + used.ru_stime,
        peak_mb=used.ru_maxrss / 1024,
        status=process.returncode,
        output=log.read_text(errors="replace"),
    )


def cpu_of_importing(module: str, folder: Path) -> float:
    """CPU seconds of a process that imports a module and ends: the least of three."""
    command = (sys.executable, "-c", f"import {module}")
    return min(expect(run_command(folder / "home", *command)).cpu for _ in range(3))


def start(home: Path, *command: str, output: int) -> "subprocess.Popen[bytes]":
    """Start a program over a home folder."""
    environment = {**os.environ, "BENCH_HOME": str(home)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process compiles all of us
    return subprocess.Popen(command, env=environment, stdout=output, stderr=output)


def expect(ran: Run, status: int = 0) -> Run:
    """Give a run back that ended as it should.

    Raises:
        RuntimeError: With its output, if it did not.
    """
    if ran.status != status:
        raise RuntimeError(f"bench ended with {ran.status} instead of {status}:\n{ran.output}")
    return ran
