"""Runs ``bench`` in a new process, and checks of its output."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.faults.homes import KEY, KEY_VARIABLE
from tests.faults.table import FindingError

CHECKOUT = Path(__file__).parents[2]
EVALUATE = ("evaluate", "quiz", "--model", "m", "--json")
_TRACE = re.compile(r"Traceback \(most recent call last\)|^\w*(Error|Exception|Interrupt)\b", re.M)


@contextmanager
def running_bench(home, arguments=EVALUATE, before=()):
    """Start ``bench`` in a home folder; it is killed if it still runs at the end of the block.

    Args:
        home: The home folder.
        arguments: Arguments of ``bench``.
        before: Words before the command, such as those of ``unshare``.
    """
    path = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")]))
    variables: Mapping[str, str] = {"BENCH_HOME": str(home), KEY_VARIABLE: KEY, "PYTHONPATH": path}
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "bench_assets", *arguments],
        env={**os.environ, **variables},
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that what a shell started ends with it
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def wait_for(process: subprocess.Popen[str], timeout: float = 300.0) -> tuple[int, str]:
    """Wait for a process; returns its exit status and its output."""
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as error:
        raise FindingError(f"bench does not end within {timeout:g} s") from error
    return process.returncode, stdout + stderr


def require_sentence(output: str) -> None:
    """Raise a FindingError if an output contains a traceback or the name of an exception."""
    if trace := _TRACE.search(output):
        raise FindingError(f"not a sentence: {output[trace.start() :][-300:]}")
