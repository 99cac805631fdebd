"""A bar on the terminal that moves with every table of a run; askings draw their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import dagster as dg

if TYPE_CHECKING:
    from rich.progress import Progress


@contextmanager
def materializing(
    instance: dg.DagsterInstance, run_id: str, title: str, n_assets: int
) -> Iterator[None]:
    """Draw the bar of a run while it lasts; none without a title."""
    if not title:
        yield
        return
    with _bar() as bar:
        line = bar.add_task(title, total=n_assets)

        def advance(event: dg.EventLogEntry) -> None:
            happened = event.dagster_event
            if happened and happened.is_step_materialization:
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
