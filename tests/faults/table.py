import resource
import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from shlex import quote
from types import FrameType
from typing import NamedTuple


class FindingError(AssertionError):
    """A fault did not have the expected effect; the message states what happened."""


class _OverdueError(BaseException):
    """Time is over; no Exception, as code on the way may catch every one of these."""


class SkippedError(Exception):
    """This machine cannot cause the fault; the message states why."""


class Trial(NamedTuple):
    folder: Path  # empty, its own
    rng: Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    group: str
    name: str  # unique in its group
    cause: str
    expected: str  # effect
    attempt: Callable[[Trial], str]  # causes the fault, checks its effect and returns it
    short: bool = True  # takes milliseconds, and the same each time: make check tries it
    is_random: bool = False  # depends on the seed, so that further trials may find more
    timeout: float = 120.0  # s; a trial that takes longer hangs

    @property
    def title(self) -> str:
        """Its name for ``make faults --only``."""
        return f"{self.group}: {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one trial."""

    fault: Fault
    seed: int
    effect: str = ""
    finding: str = ""  # what is wrong; "" if nothing is
    stack: str = ""  # of an unexpected exception
    skip_reason: str = ""  # why it was not tried; "" if it was
    seconds: float = 0.0

    @property
    def command(self) -> str:
        """The command that repeats the trial."""
        return f"python -m tests.faults --seed {self.seed} --only {quote(self.fault.title)}"


def try_fault(fault: Fault, seed: int, folder: Path) -> Outcome:
    """Try a fault in an empty folder; any exception becomes part of the outcome."""
    started = time.monotonic()
    effect = finding = skip_reason = stack = ""
    try:
        with time_limit(fault.timeout), memory_limit():
            effect = fault.attempt(Trial(folder, Random(f"{seed} {fault.title}")))
    except SkippedError as error:
        skip_reason = str(error)
    except (FindingError, _OverdueError) as error:
        finding = str(error)
    except Exception as error:  # noqa: BLE001  (a foreign exception is a finding)
        example = " ".join(getattr(error, "__notes__", ()))
        finding = f"{type(error).__module__}.{type(error).__name__}: {error} {example}"
        stack = traceback.format_exc()
    seconds = time.monotonic() - started
    return Outcome(
        fault=fault,
        seed=seed,
        effect=_in_one_line(effect),
        finding=_in_one_line(finding.replace(str(folder), "HOME")),
        stack=stack,
        skip_reason=skip_reason,
        seconds=seconds,
    )


@contextmanager
def time_limit(seconds: float) -> Generator[None]:
    """Interrupt a block that takes longer; in other threads than the main one, do nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_: int, __: FrameType | None) -> None:
        raise _OverdueError(f"no end within {seconds:g} s")

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@contextmanager
def memory_limit(n_bytes: int = 6 << 30) -> Generator[None]:
    """Let this process take so many bytes more than it has, as a hostile file may take all."""
    n_pages, *_ = Path("/proc/self/statm").read_text(encoding="ascii").split()
    limit = int(n_pages) * resource.getpagesize() + n_bytes
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard_limit))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft_limit, hard_limit))


def _in_one_line(text: str, max_length: int = 400) -> str:
    line = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return line if len(line) <= max_length else f"{line[: max_length - 1]}…"
