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

PATIENCE = 10.0  # s that a command has to end after SIGTERM, or alone after SIGINT
INTERRUPT_PATIENCE = 60.0  # s that a command has to end after SIGINT
_CHILDREN_PATIENCE = 5.0  # s that children of an ended command have to end after SIGTERM
_PAUSE = 0.5  # s before a restart
_SET_CHILD_SUBREAPER = 36  # number of an option of Linux's prctl
_SET_PDEATHSIG = 1  # number of an option of Linux's prctl


def main(arguments: list[str]) -> int:
    """Run a command; returns its exit code, for a signal 128 more than its number."""
    is_alone = arguments[0] == "--alone"
    interrupts = is_alone or arguments[0] == "--interrupt"
    words = arguments[1:] if interrupts else arguments
    if not is_alone:
        _prctl(_SET_CHILD_SUBREAPER, 1)  # orphaned grandchildren become ours, and are found
    command = _WatchedCommand(words, interrupts=interrupts, is_alone=is_alone)
    # Before the start: a shell's background jobs ignore SIGINT, which children would inherit.
    signal.signal(signal.SIGINT, lambda *_: command.send(signal.SIGINT))
    signal.signal(signal.SIGTERM, lambda *_: command.end())
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    code = command.run()
    while command.use_restart(code):
        code = command.run()
    return code if code >= 0 else 128 - code


class _WatchedCommand:
    """The command, which may be restarted."""

    def __init__(self, words: list[str], *, interrupts: bool, is_alone: bool) -> None:
        self._words, self._interrupts, self._is_alone = words, interrupts, is_alone
        self._is_over = False
        self._restarts_left = 0
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
        is_first_run = self._process is None
        self._process = process
        if is_first_run:
            Thread(target=self._listen, daemon=True).start()
        if self._is_over:  # it was ended while the command started
            self.end()
        code = process.wait()
        if not self._is_alone:
            _end_children(process, _CHILDREN_PATIENCE if self._interrupts else 0.0)
        return code

    def use_restart(self, code: int) -> bool:
        """Use up a restart, and pause; False if none is left, or the command is to end."""
        if self._is_over or not self._restarts_left:
            return False
        self._restarts_left -= 1
        sys.stdout.write(f"ended with code {code}; restarted\n")
        sys.stdout.flush()
        time.sleep(_PAUSE)
        return not self._is_over

    def send(self, signal_number: int) -> None:
        """Send the command a signal, if it runs."""
        if self._process:
            self._process.send_signal(signal_number)

    def end(self) -> None:
        """Ask the command to end."""
        self._is_over = True
        if self._interrupts:
            self.send(signal.SIGINT)
        elif self._process and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)

    def _listen(self) -> None:
        """Read the parent's pipe until its end is closed, then end the command; at last kill it."""
        while data := os.read(sys.stdin.fileno(), 64):
            self._restarts_left = int(data)
        self.end()
        is_patient = self._interrupts and not self._is_alone
        time.sleep(INTERRUPT_PATIENCE if is_patient else PATIENCE)
        if self._process and self._is_alone:
            self._process.kill()
        elif self._process:
            _end_children(self._process, 0.0)


def _end_children(process: "subprocess.Popen[bytes]", patience: float) -> None:
    """End the command's group and its orphans by SIGKILL; with ``patience`` s, first by SIGTERM."""
    deadline = time.monotonic() + patience
    if patience:
        for child in _other_children(process):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)
    while _other_children(process) and time.monotonic() < deadline:
        _reap()
        time.sleep(0.05)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for _ in range(100):  # children of a killed process become ours
        remaining = _other_children(process)
        if not remaining:
            return
        for pid in remaining:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _reap() -> None:
    """Collect children that have ended, without waiting for others."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _other_children(process: "subprocess.Popen[bytes]") -> list[int]:
    """Ids of our child processes other than the command; none if /proc does not list them."""
    children: list[int] = []
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            children += map(int, file.read_text().split())
    return [pid for pid in children if pid != process.pid]


def _prctl(option: int, value: int) -> None:
    """Set a process option of Linux; does nothing elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
