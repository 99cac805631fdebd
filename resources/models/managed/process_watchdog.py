"""Process watchdog: ends a command and its children when its parent process ends.

``python process_watchdog.py [--interrupt] COMMAND...`` reads a pipe on standard input; the
operating system closes it when the parent is killed. With ``--interrupt`` the command is ended by
SIGINT and given more time, as Dagster's processes need. Imports nothing but the standard library,
so that it runs with ``python -I -S``.
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
_SET_CHILD_SUBREAPER, _SET_PDEATHSIG = 36, 1  # of Linux' prctl


def main(arguments: list[str]) -> int:
    """Run a command; returns its exit code."""
    interrupts = arguments[0] == "--interrupt"
    _prctl(_SET_CHILD_SUBREAPER, 1)  # orphaned grandchildren become ours, and are found
    started: list[subprocess.Popen[bytes]] = []

    def pass_on(*_: object) -> None:
        for one in started:
            one.send_signal(signal.SIGINT)

    # Before the start: a shell's background jobs ignore SIGINT, and would pass that on.
    signal.signal(signal.SIGINT, pass_on)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    process = subprocess.Popen(
        arguments[interrupts:],
        stdin=subprocess.DEVNULL,
        process_group=0,
        # Should we be killed. There are no threads yet.
        preexec_fn=lambda: _prctl(_SET_PDEATHSIG, signal.SIGKILL),  # noqa: PLW1509
    )
    started.append(process)
    signal.signal(signal.SIGTERM, lambda *_: _end(process, interrupts=interrupts))
    Thread(target=_end_with_parent, args=[process, interrupts], daemon=True).start()
    code = process.wait()
    _end_children(process, _CHILDREN_PATIENCE if interrupts else 0.0)
    return code if code >= 0 else 128 - code


def _end_with_parent(process: "subprocess.Popen[bytes]", interrupts: bool) -> None:
    os.read(sys.stdin.fileno(), 1)  # returns when the parent's end is closed
    _end(process, interrupts=interrupts)
    time.sleep(INTERRUPT_PATIENCE if interrupts else PATIENCE)
    _end_children(process, 0.0)


def _end(process: "subprocess.Popen[bytes]", *, interrupts: bool) -> None:
    with suppress(ProcessLookupError):
        if interrupts:
            process.send_signal(signal.SIGINT)
        else:
            os.killpg(process.pid, signal.SIGTERM)


def _end_children(process: "subprocess.Popen[bytes]", patience: float) -> None:
    """End the rest of the command's group, and its orphans: SIGTERM, then SIGKILL."""
    until = time.monotonic() + patience
    for one in _others(process) if patience else []:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGTERM)
    while _others(process) and time.monotonic() < until:
        _reap()
        time.sleep(0.05)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for _ in range(100):  # a killed one may leave others behind, which then are ours
        if not (left := _others(process)):
            return
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _others(process: "subprocess.Popen[bytes]") -> list[int]:
    """Ids of our child processes beside the command; none where /proc does not list them."""
    found: list[int] = []
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, listed.read_text().split())
    return [pid for pid in found if pid != process.pid]


def _prctl(what: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(what, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
