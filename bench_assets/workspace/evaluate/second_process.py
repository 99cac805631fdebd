"""Evaluates models in a second process, to use a second core."""

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from bench_assets.core.schema.errors import BenchError
from bench_assets.workspace.materialization.backfill import backfill
from bench_assets.workspace.materialization.opening import open_workbench
from bench_resources.config.environment import environment_of
from bench_resources.models.managed import process_watchdog

Step: TypeAlias = tuple[Sequence[str], Sequence[str]]
"""Suites and models; the suites' questions are built first."""

_GC_THRESHOLD = 50_000  # as in ``bench_assets.cli.start``; halves the time of imports


@contextmanager
def background_evaluation(home: Path, steps: Sequence[Step]) -> Iterator[Callable[[], object]]:
    """Evaluate models in another process during the block; does nothing on a single core.

    Output and errors are dropped. Evaluate the same steps again afterwards: finished tables are
    fresh and skipped, the rest is evaluated, or fails with a message.

    Yields:
        A function that waits until the process has ended.
    """
    if (os.cpu_count() or 1) < 2:
        yield lambda: None
        return
    watched = [sys.executable, "-I", "-S", process_watchdog.__file__, "--interrupt"]
    process = subprocess.Popen(
        [*watched, sys.executable, "-m", __name__, json.dumps(steps)],
        env=environment_of(home),
        stdin=subprocess.PIPE,  # closed when we end
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process.wait
    finally:
        process.terminate()
        process.communicate()


def main(steps: Sequence[Step]) -> None:
    """Evaluate the steps, in order; entry point of the process."""
    gc.set_threshold(_GC_THRESHOLD)
    with open_workbench(rule="bench.toml") as bench:
        for suites, models in steps:
            with suppress(BenchError):  # occurs again in the caller
                for _ in backfill(bench, models, suites):
                    pass


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
