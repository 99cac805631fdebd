"""Process watchdog: ends a server when its parent process ends.

``python keeper.py COMMAND...``, with a pipe as standard input: what is killed can end nothing, but
its end of a pipe is closed for it. The server's own processes end with it, wherever they went.
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

PATIENCE = 10.0  # s that a server has to end by itself
_SET_CHILD_SUBREAPER, _SET_PDEATHSIG = 36, 1  # of Linux' prctl


def main(command: list[str]) -> int:
    """Run a command; its exit code."""
    _tell_linux(_SET_CHILD_SUBREAPER, 1)  # what loses its parent becomes ours, and is found
    server = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        process_group=0,
        # Should we be killed. There are no threads yet.
        preexec_fn=lambda: _tell_linux(_SET_PDEATHSIG, signal.SIGKILL),  # noqa: PLW1509
    )
    signal.signal(signal.SIGTERM, lambda *_: _end(server))
    Thread(target=_end_when_alone, args=[server], daemon=True).start()
    code = server.wait()
    _kill_what_is_left(server)
    return code if code >= 0 else 128 - code


def _end_when_alone(server: "subprocess.Popen[bytes]") -> None:
    """Wait until nobody holds the other end of standard input."""
    os.read(sys.stdin.fileno(), 1)  # nobody writes
    _end(server)
    time.sleep(PATIENCE)
    _kill_what_is_left(server)


def _end(server: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGTERM)


def _kill_what_is_left(server: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(server.pid, signal.SIGKILL)
    for _ in range(100):  # one that is killed may leave others behind, which then are ours
        if not (left := [pid for pid in _children() if pid != server.pid]):
            return
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _children() -> list[int]:
    """Our own child processes; none where the system does not say."""
    said: list[int] = []
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            said += map(int, listed.read_text().split())
    return said


def _tell_linux(what: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(what, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
