"""Progress of a run: one bar per table, or a line at intervals."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import dagster as dg

from bench_assets.workspace.console.output import print_message
from bench_resources.response_cache.throughput import LOG_INTERVAL, ProgressStyle


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
        yield from _show_bar(instance, run_id, title, n_assets)


def _add_table(event: dg.EventLogEntry, tables: set[dg.AssetKey]) -> bool:
    """Add the table that an event reports; returns whether it is new, not another partition."""
    dagster_event, n_tables = event.dagster_event, len(tables)
    if dagster_event and dagster_event.is_step_materialization and dagster_event.asset_key:
        tables.add(dagster_event.asset_key)
    return len(tables) > n_tables


class _ProgressLines:
    """Prints the number of finished tables, at most every ``LOG_INTERVAL`` seconds."""

    def __init__(self, title: str, n_assets: int, clock: Callable[[], float]) -> None:
        self._title, self._n_assets, self._tables = title, n_assets, set[dg.AssetKey]()
        self._clock, self._printed_at = clock, clock()

    def __call__(self, event: dg.EventLogEntry) -> None:
        _add_table(event, self._tables)
        now = self._clock()
        if now - self._printed_at > LOG_INTERVAL:
            self._printed_at = now
            print_message(f"{self._title}: {len(self._tables)} of {self._n_assets} tables")


def _show_bar(
    instance: dg.DagsterInstance, run_id: str, title: str, n_assets: int
) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    ) as bar:
        task_id, tables = bar.add_task(title, total=n_assets), set[dg.AssetKey]()

        def advance(event: dg.EventLogEntry) -> None:
            if _add_table(event, tables):
                bar.advance(task_id)

        instance.add_event_listener(run_id, advance)
        yield
