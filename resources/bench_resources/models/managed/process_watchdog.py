"""Process watchdog: ends a command and its children when its parent process ends.

``python process_watchdog.py [--interrupt | --alone] COMMAND...`` reads a pipe on standard input;
the operating system closes it when the parent is killed. With ``--interrupt`` the command is ended
by SIGINT and given more time, as Dagster's processes need. With ``--alone`` it is ended by SIGINT
too, but not its children: runs outlive the service that started them. A number that the parent
writes into the pipe is how often the command is restarted from then on. Imports only the standard
library, so that it runs with ``python -I -S``.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

PATIENCE = 10.0  # s that a command has to end after SIGTERM
INTERRUPT_PATIENCE = 60.0  # s, after SIGINT
_CHILDREN_PATIENCE = 5.0  # s that children of an ended command have to end after SIGTERM
_PAUSE = 0.5  # s before a restart
_SET_CHILD_SUBREAPER, _SET_PDEATHSIG = 36, 1  # of Linux' prctl


def main(arguments: list[str]) -> int:
    """Run a command; returns its exit code."""
    is_alone = arguments[0] == "--alone"
    interrupts = is_alone or arguments[0] == "--interrupt"
    if not is_alone:
        _prctl(_SET_CHILD_SUBREAPER, 1)  # orphaned grandchildren become ours, and are found
    watched = _Watched(arguments[interrupts:], interrupts=interrupts, is_alone=is_alone)
    # Before the start: a shell's background jobs ignore SIGINT, which children would inherit.
    signal.signal(signal.SIGINT, lambda *_: watched.send(signal.SIGINT))
    signal.signal(signal.SIGTERM, lambda *_: watched.end())
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    code = watched.run()
    while watched.is_restarted(code):
        code = watched.run()
    return code if code >= 0 else 128 - code


class _Watched:
    """The command, which may be restarted."""

    def __init__(self, words: list[str], *, interrupts: bool, is_alone: bool) -> None:
        self._words, self._interrupts, self._is_alone = words, interrupts, is_alone
        self._is_over = False
        self._left = 0  # restarts
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        """Start the command and wait until it ends."""
        process = subprocess.Popen(
            self._words,
            stdin=subprocess.DEVNULL,
            process_group=0,
            # In case we are killed. At a restart there is a thread, which only reads: no lock.
            preexec_fn=lambda: _prctl(_SET_PDEATHSIG, signal.SIGKILL),  # noqa: PLW1509
        )
        is_first, self._process = self._process is None, process
        if is_first:
            Thread(target=self._listen, daemon=True).start()
        if self._is_over:  # it was ended while the command started
            self.end()
        code = process.wait()
        if not self._is_alone:
            _end_children(process, _CHILDREN_PATIENCE if self._interrupts else 0.0)
        return code

    def is_restarted(self, code: int) -> bool:
        """Whether the command is to be restarted, after a pause."""
        if self._is_over or not self._left:
            return False
        self._left -= 1
        sys.stdout.write(f"ended with code {code}; restarted\n")
        sys.stdout.flush()
        time.sleep(_PAUSE)
        return not self._is_over

    def send(self, number: int) -> None:
        """Send the command a signal, if it runs."""
        if self._process:
            self._process.send_signal(number)

    def end(self) -> None:
        """Ask the command to end."""
        self._is_over = True
        if self._interrupts:
            self.send(signal.SIGINT)
        elif self._process and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)

    def _listen(self) -> None:
        """Read the parent's pipe until its end is closed, then end the command."""
        while number := os.read(sys.stdin.fileno(), 64):
            self._left = int(number)
        self.end()
        is_patient = self._interrupts and not self._is_alone
        time.sleep(INTERRUPT_PATIENCE if is_patient else PATIENCE)
        if self._process and self._is_alone:
            self._process.kill()
        elif self._process:
            _end_children(self._process, 0.0)


def _end_children(process: "subprocess.Popen[bytes]", patience: float) -> None:
    """End the rest of the command's group, and its orphans: SIGTERM, then SIGKILL."""
    deadline = time.monotonic() + patience
    for child in _other_children(process) if patience else []:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)
    while _other_children(process) and time.monotonic() < deadline:
        _reap()
        time.sleep(0.05)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for _ in range(100):  # children of a killed process become ours
        if not (remaining := _other_children(process)):
            return
        for pid in remaining:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _other_children(process: "subprocess.Popen[bytes]") -> list[int]:
    """Ids of our child processes other than the command; none if /proc does not list them."""
    children: list[int] = []
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            children += map(int, listed.read_text().split())
    return [pid for pid in children if pid != process.pid]


def _prctl(what: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(what, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
