"""How far an asking has come: a bar for a person, a line now and then for a log."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from resources.replies.throughput import Throughput

if TYPE_CHECKING:
    from rich.progress import Progress

_EVERY = 10.0  # s between two lines in the log


class AskingProgress:
    """Shows and counts replies as they arrive; a context manager around one asking."""

    def __init__(self, title: str, log: Callable[[str], object], *, bar: bool) -> None:
        self.remembered = 0
        self.total = 0
        self.throughput = Throughput()  # of what is asked, if the model is given it
        self._title = title
        self._log = log
        self._logged_at = time.monotonic()
        self._bar = _bar() if bar else None
        self._line = self._bar.add_task(title, total=None) if self._bar else None

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
        if self._bar and self._line is not None:
            self._bar.update(self._line, completed=done, total=total)
        now = time.monotonic()
        if now - self._logged_at > _EVERY:
            self._logged_at = now
            self._log(f"{self._title}: {done} of {total} replies ({remembered} remembered)")

    def metadata(self) -> dict[str, int | float]:
        """What an asset shows of an asking."""
        return {
            "replies_remembered": self.remembered,
            "replies_asked": self.total - self.remembered,
            **self.throughput.metadata(),
        }


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
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True),
    )
