"""Another process that evaluates meanwhile, so that a second core is not idle."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from resources.config.environment import environment_of
from resources.models.managed import process_watchdog


@contextmanager
def evaluated_meanwhile(
    home: Path, suites: Sequence[str], models: Sequence[str]
) -> Iterator[Callable[[], object]]:
    """Evaluate models in another process; nothing happens on a machine with one core.

    Its output is dropped, and so are its errors: evaluate the same afterwards. What is finished is
    fresh then, and the rest is evaluated or fails where it can be reported.

    Args:
        home: The home folder.
        suites: Suites, whose questions are built first.
        models: Models of bench.toml.

    Yields:
        Waits until the process has ended.
    """
    if (os.cpu_count() or 1) < 2 or not (suites and models):
        yield lambda: None
        return
    watched = [sys.executable, "-I", "-S", process_watchdog.__file__, "--interrupt"]
    asked = [word for model in models for word in ("--model", model)]
    command = ["-m", "bench_assets", "evaluate", *suites, *asked, "--keep-going"]
    process = subprocess.Popen(
        [*watched, sys.executable, *command],
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
