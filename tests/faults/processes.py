"""``bench`` as a process of its own, and what its last words must be."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.faults.homes import KEY, KEY_VARIABLE
from tests.faults.table import FoundError

CHECKOUT = Path(__file__).parents[2]
EVALUATE = ("evaluate", "quiz", "--model", "m", "--json")
_TRACE = re.compile(r"Traceback \(most recent call last\)|^\w*(Error|Exception|Interrupt)\b", re.M)


@contextmanager
def running(
    home: Path, arguments: Sequence[str] = EVALUATE, before: Sequence[str] = ()
) -> Generator[subprocess.Popen[str]]:
    """Start ``bench`` in a home folder; it is killed if it still runs at the end of the block.

    Args:
        home: The folder.
        arguments: Of bench.
        before: Words before the command, such as those of ``unshare``.
    """
    path = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")]))
    more: Mapping[str, str] = {"BENCH_HOME": str(home), KEY_VARIABLE: KEY, "PYTHONPATH": path}
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "bench_assets", *arguments],
        env={**os.environ, **more},
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


def ended(process: subprocess.Popen[str], longest: float = 300.0) -> tuple[int, str]:
    """Wait for it; its exit status, and everything it said."""
    try:
        stdout, stderr = process.communicate(timeout=longest)
    except subprocess.TimeoutExpired as error:
        raise FoundError(f"bench does not end within {longest:g} s") from error
    return process.returncode, stdout + stderr


def require_sentence(output: str) -> None:
    """Raise if bench ended in an exception's name and not in a sentence."""
    if trace := _TRACE.search(output):
        raise FoundError(f"not a sentence: {output[trace.start() :][-300:]}")
