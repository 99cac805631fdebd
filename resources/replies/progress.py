"""How far an asking has come: a bar for a person, a line now and then for a log."""

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from resources.replies.throughput import Throughput

if TYPE_CHECKING:
    from rich.progress import Progress

Shown: TypeAlias = Literal["in the log", "as lines", "as a bar"]
"""Where progress is shown beside the log of the run: nowhere, on stderr, on a terminal."""

EVERY = 10.0  # s between two lines


class AskingProgress:
    """Shows and counts replies as they arrive; a context manager around one asking."""

    def __init__(
        self,
        title: str,
        log: Callable[[str], object],
        shown: Shown,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.remembered = 0
        self.total = 0
        self.throughput = Throughput()  # of what is asked, if the model is given it
        self._title = title
        self._log = log
        self._shown = shown
        self._clock = clock
        self._began = self._told_at = clock()
        self._bar = _bar() if shown == "as a bar" else None
        self._line = self._bar.add_task(title, total=None, said="") if self._bar else None

    def __enter__(self) -> Self:
        """Show the bar."""
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the bar as it is."""
        if self._bar:
            self._bar.stop()

    def __call__(self, done: int, remembered: int, total: int) -> None:
        """Take note of how many of all replies are there, and how many were known before."""
        self.remembered, self.total = remembered, total
        now = self._clock()
        if done == remembered:
            self._began = now
        if self._bar and self._line is not None:
            said = self._said(done, now)
            self._bar.update(self._line, completed=done, total=total, said=said)
        if now - self._told_at > EVERY:
            self._told_at = now
            self._tell(f"{self._title}: {done} of {total} replies, {self._said(done, now)}")

    def metadata(self) -> dict[str, int | float]:
        """What an asset shows of an asking."""
        return {
            "replies_remembered": self.remembered,
            "replies_asked": self.total - self.remembered,
            **self.throughput.metadata(),
        }

    def _said(self, done: int, now: float) -> str:
        """What is known beside how many: "40 remembered, 3 failed, 1.5/s, 12,000 tokens"."""
        asked, seconds = done - self.remembered, now - self._began
        said = [f"{self.remembered} remembered"] if self.remembered else []
        said += self.throughput.arrived()
        said += [f"{asked / seconds:.1f}/s"] if asked and seconds else []
        if asked and not self._bar:
            said.append(f"{(self.total - done) * seconds / asked:.0f} s to go")
        return ", ".join(said) or "waiting for the first"

    def _tell(self, line: str) -> None:
        self._log(line)
        if self._shown == "as lines":
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def _bar() -> "Progress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[said]}", markup=False),
        console=Console(stderr=True),
    )
