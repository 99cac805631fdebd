"""Evaluates models in a second process, to use a second core."""

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench_assets.workspace.materialization.backfill import backfill
from bench_assets.workspace.materialization.opening import open_workbench
from bench_resources.config.environment import environment_of
from bench_resources.models.managed import process_watchdog

_GC_THRESHOLD = 50_000  # objects before a garbage collection; halves the time of imports


@contextmanager
def background_evaluation(
    home: Path, suites: Sequence[str], models: Sequence[str]
) -> Iterator[Callable[[], bool]]:
    """Evaluate models in another process during the block, if there are suites and a second core.

    Output and errors are dropped. If something was not evaluated, evaluate the same again
    afterwards: finished tables are skipped, the rest is evaluated, or fails with a message.

    Yields:
        A function that waits for the end of the process and returns whether all was evaluated.
    """
    if not suites or (os.cpu_count() or 1) < 2:
        yield lambda: False
        return
    watched = [sys.executable, "-I", "-S", process_watchdog.__file__, "--interrupt"]
    process = subprocess.Popen(
        [*watched, sys.executable, "-m", __name__, json.dumps([suites, models])],
        env=environment_of(home),
        stdin=subprocess.PIPE,  # closed when we end
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield lambda: process.wait() == 0
    finally:
        process.terminate()
        process.communicate()


def main(suites: Sequence[str], models: Sequence[str]) -> bool:
    """Evaluate the models, in order; returns whether one failed. Entry point of the process."""
    gc.set_threshold(_GC_THRESHOLD)
    with open_workbench(rule="bench.toml") as bench:
        results = list(backfill(bench, models, suites))  # a failure does not stop the others
        return any(result.error for result in results)


if __name__ == "__main__":
    sys.exit(main(*json.loads(sys.argv[1])))
