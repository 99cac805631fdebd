"""Another process that evaluates meanwhile, so that a second core is not idle."""

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
from resources.config.environment import environment_of
from resources.models.managed import process_watchdog

Step: TypeAlias = tuple[Sequence[str], Sequence[str]]
"""Suites, whose questions are built first, and models."""

_GC_THRESHOLD = 50_000  # as of `bench`: half of the time of the imports


@contextmanager
def evaluated_meanwhile(home: Path, steps: Sequence[Step]) -> Iterator[Callable[[], object]]:
    """Evaluate models in another process; nothing happens on a machine with one core.

    Its output is dropped, and so are its errors: evaluate the same afterwards. What is finished is
    fresh then, and the rest is evaluated or fails where it can be reported.

    Args:
        home: The home folder.
        steps: What is evaluated, one after the other.

    Yields:
        Waits until the process has ended.
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
    """Evaluate, step by step."""
    gc.set_threshold(_GC_THRESHOLD)
    with open_workbench() as bench:
        for suites, models in steps:
            with suppress(BenchError):  # the caller meets it too
                for _ in backfill(bench, models, suites):
                    pass


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
