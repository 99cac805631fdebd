"""Progress of a run: one bar per table, or a line at intervals."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import dagster as dg

from bench_assets.workspace.console.output import print_message
from bench_resources.response_cache.throughput import LOG_INTERVAL, ProgressStyle

if TYPE_CHECKING:
    from rich.progress import Progress


@contextmanager
def materialization_progress(
    instance: dg.DagsterInstance,
    run_id: str,
    title: str,
    n_assets: int,
    progress: ProgressStyle,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[None]:
    """Show a run's progress; nothing without a title, or if only the log is shown."""
    if not title or progress == "in the log":
        yield
    elif progress == "as lines":
        instance.add_event_listener(run_id, _ProgressLines(title, n_assets, clock))
        yield
    else:
        yield from _with_bar(_bar(), instance, run_id, title, n_assets)


def _add_table(event: dg.EventLogEntry, made: set[dg.AssetKey]) -> bool:
    """Add the table that an event reports; whether it is the first of its partitions."""
    happened, n_made = event.dagster_event, len(made)
    if happened and happened.is_step_materialization and happened.asset_key:
        made.add(happened.asset_key)
    return len(made) > n_made


class _ProgressLines:
    """Prints the number of finished tables, at most every ``EVERY`` seconds."""

    def __init__(self, title: str, n_assets: int, clock: Callable[[], float]) -> None:
        self._title, self._n_assets, self._made = title, n_assets, set[dg.AssetKey]()
        self._clock, self._printed_at = clock, clock()

    def __call__(self, event: dg.EventLogEntry) -> None:
        _add_table(event, self._made)
        now = self._clock()
        if now - self._printed_at > LOG_INTERVAL:
            self._printed_at = now
            print_message(f"{self._title}: {len(self._made)} of {self._n_assets} tables")


def _with_bar(
    bar: "Progress", instance: dg.DagsterInstance, run_id: str, title: str, n_assets: int
) -> Iterator[None]:
    with bar:
        line, made = bar.add_task(title, total=n_assets), set[dg.AssetKey]()

        def advance(event: dg.EventLogEntry) -> None:
            if _add_table(event, made):
                bar.advance(line)

        instance.add_event_listener(run_id, advance)
        yield


def _bar() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )
