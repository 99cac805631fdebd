"""Download progress: log lines or a terminal bar."""

import logging
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_log = logging.getLogger("bench_assets.sources")
_EVERY = 10.0  # s between two lines of a log


class LoggedDownload:
    """Tells the log of a fetching, now and then."""

    def __init__(self) -> None:
        self._title, self._total, self._done = "", 0, 0
        self._started = self._logged = time.monotonic()

    def begin(self, title: str, total: int) -> None:
        """Say what is fetched, and how many bytes."""
        self._title, self._total = title, total
        self._started = self._logged = time.monotonic()
        _log.warning("%s: fetching %.1f MB", title, total / 1e6)

    def add(self, n: int) -> None:
        """Count bytes, and say how many there are if that was long ago."""
        self._done += n
        now = time.monotonic()
        if now - self._logged > _EVERY:
            self._logged = now
            done, rate = self._done / 1e6, self._done / 1e6 / (now - self._started)
            _log.warning(
                "%s: %.1f of %.1f MB, %.1f MB/s", self._title, done, self._total / 1e6, rate
            )


class FetchingBar:
    """Draws a bar on standard error; close it after use."""

    def __init__(self) -> None:
        self._bar = _bar()
        self._line = self._bar.add_task("", total=None)

    def begin(self, title: str, total: int) -> None:
        """Show the bar."""
        self._bar.update(self._line, description=title, total=total or None)
        self._bar.start()

    def add(self, n: int) -> None:
        """Move the bar by bytes."""
        self._bar.advance(self._line, n)

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.stop()


def _bar() -> "Progress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
