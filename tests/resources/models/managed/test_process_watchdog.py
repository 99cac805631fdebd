"""What was started ends with whoever started it, also where that is killed."""

import signal
import subprocess
import sys

from bench_resources.models.managed import process_watchdog
from tests.resources.models.managed.test_engine import is_running, until

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
