"""What was started ends with whoever started it, also where that is killed."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench_resources.models.managed import process_watchdog

WATCHED = [sys.executable, "-I", "-S", process_watchdog.__file__, "--interrupt"]

# Starts the second under the first's watch, prints who that is, and waits.
STARTER = """
import subprocess, sys
watched = subprocess.Popen(
    [*{watch!r}, sys.executable, "-c",
     "import os; print(os.getpid(), flush=True); input_ = os.read(os.pipe()[0], 1)"],
    stdin=subprocess.PIPE, start_new_session=True,
)
watched.wait()
"""


def until(met: Callable[[], bool]) -> None:
    """Wait; busy machines take long to start and to end anything."""
    given_up = time.monotonic() + 60
    while not met():
        assert time.monotonic() < given_up
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        written = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):  # the second: it ended while it was read
        return False
    return written.rpartition(")")[2].split()[0] != "Z"


def test_what_a_killed_process_started_ends_too():
    code = STARTER.format(watch=WATCHED)
    starter = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert starter.stdout
    started = int(starter.stdout.readline())
    assert is_running(started)
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    until(lambda: not is_running(started))
    starter.stdout.close()


def test_what_is_started_where_interrupts_are_ignored_hears_them():
    script = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
    watch = f"{' '.join(WATCHED)} {sys.executable} -c '{script}'"
    shell = ["sh", "-c", f"trap '' INT; exec {watch}"]
    pipe = subprocess.PIPE
    with subprocess.Popen(shell, stdin=pipe, stdout=pipe, start_new_session=True) as watched:
        assert watched.stdout
        assert watched.stdout.read() == b"False\n"


def test_the_exit_code_is_that_of_the_command():
    command = [*WATCHED, sys.executable, "-c", "exit(7)"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as watched:
        assert watched.wait() == 7
