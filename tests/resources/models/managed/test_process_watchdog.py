import shlex
import signal
import subprocess
import sys

from bench_resources.models.managed import process_watchdog
from tests.resources.models.managed.test_engine import is_running, wait_until

WATCHDOG = [sys.executable, "-I", "-S", process_watchdog.__file__, "--interrupt"]

# Starts a process under the watchdog; that prints its id and waits without an end.
STARTER = """
import subprocess, sys
watched = subprocess.Popen(
    [*{watchdog!r}, sys.executable, "-c",
     "import os; print(os.getpid(), flush=True); os.read(os.pipe()[0], 1)"],
    stdin=subprocess.PIPE, start_new_session=True,
)
watched.wait()
"""


def test_a_watched_process_ends_when_its_starter_is_killed() -> None:
    code = STARTER.format(watchdog=WATCHDOG)
    starter = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert starter.stdout
    watched_pid = int(starter.stdout.readline())
    assert is_running(watched_pid)
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    wait_until(lambda: not is_running(watched_pid))
    starter.stdout.close()


def test_a_watched_process_receives_interrupts_that_its_starter_ignores() -> None:
    script = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
    command = shlex.join([*WATCHDOG, sys.executable, "-c", script])
    shell = ["sh", "-c", f"trap '' INT; exec {command}"]
    pipe = subprocess.PIPE
    with subprocess.Popen(shell, stdin=pipe, stdout=pipe, start_new_session=True) as watched:
        assert watched.stdout
        assert watched.stdout.read() == b"False\n"


def test_the_exit_code_is_that_of_the_command() -> None:
    command = [*WATCHDOG, sys.executable, "-c", "exit(7)"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as watched:
        assert watched.wait() == 7
