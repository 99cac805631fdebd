"""A fault, and what becomes of one that is tried."""

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


class FoundError(AssertionError):
    """What must be seen was not; says what was."""


class _OverdueError(BaseException):
    """Time is over; nobody catches it on the way, as some catch every Exception."""


class SkippedError(Exception):
    """This machine cannot make the fault; says why."""


class Trial(NamedTuple):
    """One trial of a fault."""

    folder: Path  # empty, its own
    rng: Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One row of the table."""

    group: str
    name: str  # unique in its group
    made: str  # how
    must: str  # what must be seen
    attempt: Callable[[Trial], str]  # says what was seen
    short: bool = True  # takes milliseconds, and the same each time: make check tries it
    drawn: bool = False  # depends on the seed, so that further trials may see more
    longest: float = 120.0  # s; what takes longer hangs

    @property
    def title(self) -> str:
        """What ``make faults --only`` takes."""
        return f"{self.group}: {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was seen in one trial."""

    fault: Fault
    seed: int
    seen: str = ""
    found: str = ""  # what is wrong; "" if nothing is
    stack: str = ""  # of an exception that nobody expected
    skipped: str = ""  # why it was not tried
    seconds: float = 0.0

    @property
    def again(self) -> str:
        """The command that tries the same again."""
        return f"python -m tests.faults --seed {self.seed} --only {quote(self.fault.title)}"


def tried(fault: Fault, seed: int, folder: Path) -> Outcome:
    """Try a fault in an empty folder; whatever comes out of it is its outcome."""
    started = time.monotonic()
    seen = found = skipped = stack = ""
    try:
        with within(fault.longest), bounded():
            seen = fault.attempt(Trial(folder, Random(f"{seed} {fault.title}")))
    except SkippedError as error:
        skipped = str(error)
    except (FoundError, _OverdueError) as error:
        found = str(error)
    except Exception as error:  # noqa: BLE001  (a foreign exception is what is looked for)
        example = " ".join(getattr(error, "__notes__", ()))
        found = f"{type(error).__module__}.{type(error).__name__}: {error} {example}"
        stack = traceback.format_exc()
    seconds = time.monotonic() - started
    return Outcome(
        fault=fault,
        seed=seed,
        seen=_in_one_line(seen),
        found=_in_one_line(found.replace(str(folder), "HOME")),
        stack=stack,
        skipped=skipped,
        seconds=seconds,
    )


@contextmanager
def within(seconds: float) -> Generator[None]:
    """Raise if a block takes longer; elsewhere than in the main thread, wait for it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_: int, __: FrameType | None) -> None:
        raise _OverdueError(f"no end within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def bounded(more: int = 6 << 30) -> Generator[None]:
    """Let this process take so many bytes more than it has; else a hostile file takes them all."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    before, hardest = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, hardest))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hardest))


def _in_one_line(text: str, longest: int = 400) -> str:
    joined = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return joined if len(joined) <= longest else f"{joined[: longest - 1]}…"
