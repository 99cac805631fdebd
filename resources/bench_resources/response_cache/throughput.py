"""Throughput of an evaluation, and its progress display.

Progress is a bar in a terminal, and lines in a log.
"""

import sys
import time
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from bench_assets.core.schema.chat import Response

if TYPE_CHECKING:
    from rich.progress import Progress


class Throughput:
    """Sums over one or several batches of requests."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._responses = self._prompt_tokens = self._completion_tokens = 0
        self._peak_memory: int | None = None
        self._n_failed = 0
        self._arrived_prompt_tokens = self._arrived_completion_tokens = 0
        self._price_in = self._price_out = 0.0

    def set_prices(self, price_in: float, price_out: float) -> None:
        """Set the prices of a million prompt and response tokens."""
        self._price_in, self._price_out = price_in, price_out

    def count_arrival(self, response: Response) -> None:
        """Count a response while others are in progress."""
        self._n_failed += bool(response.error)
        self._arrived_prompt_tokens += response.prompt_tokens or 0
        self._arrived_completion_tokens += response.completion_tokens or 0

    def describe_arrivals(self) -> list[str]:
        """Parts of a progress line: failures, tokens, cost."""
        tokens = self._arrived_prompt_tokens + self._arrived_completion_tokens
        money = (
            self._arrived_prompt_tokens * self._price_in
            + self._arrived_completion_tokens * self._price_out
        )
        parts = []
        if self._n_failed:
            parts.append(f"{self._n_failed} failed")
        if tokens:
            parts.append(f"{tokens:,} tokens")
        if money:
            parts.append(f"{money / 1e6:.4g} spent")
        return parts

    def count_batch(
        self, responses: Collection[Response], seconds: float, peak_memory: int | None = None
    ) -> None:
        """Count the responses of a batch.

        Args:
            responses: The responses; those with ``error`` do not count.
            seconds: Time in s from the first request to the last response; the first batch of a
                run includes loading the weights.
            peak_memory: Peak bytes on one device.
        """
        successful = [response for response in responses if not response.error]
        self._seconds += seconds
        self._responses += len(successful)
        self._prompt_tokens += sum(response.prompt_tokens or 0 for response in successful)
        self._completion_tokens += sum(response.completion_tokens or 0 for response in successful)
        self._peak_memory = max(filter(None, (self._peak_memory, peak_memory)), default=None)

    def metadata(self) -> dict[str, float]:
        """Metadata for the asset; none without requests."""
        if not self._seconds:
            return {}
        metadata = {
            "asking_seconds": self._seconds,
            "responses_a_second": self._responses / self._seconds,
            "prompt_tokens_a_second": self._prompt_tokens / self._seconds,
            "completion_tokens_a_second": self._completion_tokens / self._seconds,
        }
        if self._peak_memory is not None:
            metadata["device_memory_mib"] = self._peak_memory / 2**20
        return metadata


ProgressStyle: TypeAlias = Literal["in the log", "as lines", "as a bar"]
"""Where progress is shown besides the log of the run: nowhere, on stderr, on a terminal."""

LOG_INTERVAL = 10.0  # s between two lines of the log
_LONGEST_TITLE = 40  # characters of a title, of the 80 of a terminal
_BAR_WIDTH = 10  # characters of the bar, of the 80 of a terminal


class RequestProgress:
    """Shows and counts responses as they arrive; a context manager."""

    def __init__(
        self,
        title: str,
        log: Callable[[str], object],
        style: ProgressStyle,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.remembered = 0
        self.total = 0
        self.throughput = Throughput()  # of the requests, if the model has it
        self.on_arrival: Callable[[], None] | None = None
        self._title = title
        self._log = log
        self._style = style
        self._clock = clock
        self._began = self._printed_at = clock()
        self._bar: Progress | None = _bar() if style == "as a bar" else None
        self._line = self._bar.add_task(title, total=None, details="") if self._bar else None

    def __enter__(self) -> Self:
        """Show the bar."""
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop updating the bar; it stays visible if there were requests."""
        if self._bar and self._line is not None:
            if not self.total:
                self._bar.remove_task(self._line)
            self._bar.stop()

    def __call__(self, done: int, remembered: int, total: int) -> None:
        """Update the number of responses, and of those that were cached."""
        self.remembered, self.total = remembered, total
        now = self._clock()
        if done == remembered:
            self._began = now
        if self._bar is not None and self._line is not None:
            details = self._details(done, now)
            self._bar.update(self._line, completed=done, total=total, details=details)
        if now - self._printed_at > LOG_INTERVAL:
            self._printed_at = now
            self._write_line(
                f"{self._title}: {done} of {total} responses, {self._details(done, now)}"
            )
        if self.on_arrival and done < total:  # the run itself scores all responses
            self.on_arrival()

    def metadata(self) -> dict[str, int | float]:
        """Metadata for the asset: responses by origin, and the throughput of requests."""
        return {
            "responses_remembered": self.remembered,
            "responses_asked": self.total - self.remembered,
            **self.throughput.metadata(),
        }

    def _details(self, done: int, now: float) -> str:
        """Details of a progress line: "40 remembered, 3 failed, 1.5/s, 12,000 tokens"."""
        n_new, seconds = done - self.remembered, now - self._began
        details = [f"{self.remembered} remembered"] if self.remembered else []
        details += self.throughput.describe_arrivals()
        if n_new and seconds:
            details.append(f"{n_new / seconds:.1f}/s")
        if n_new and not self._bar:
            details.append(f"{(self.total - done) * seconds / n_new:.0f} s to go")
        return ", ".join(details) or "waiting for the first"

    def _write_line(self, line: str) -> None:
        self._log(line)
        if self._style == "as lines":
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def _bar() -> "Progress":
    """Build a bar that, in a narrow terminal, cuts details before its count and the time left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    cut_column = partial(Column, no_wrap=True, overflow="ellipsis")
    return Progress(
        TextColumn(
            "{task.description}", markup=False, table_column=cut_column(max_width=_LONGEST_TITLE)
        ),
        BarColumn(bar_width=_BAR_WIDTH),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TimeRemainingColumn(elapsed_when_finished=True, table_column=Column(no_wrap=True)),
        TextColumn("{task.fields[details]}", markup=False, table_column=cut_column(ratio=1)),
        console=Console(stderr=True),
        expand=True,
    )
