"""Process watchdog: runs a command that ends when its parent process ends.

``python -m bench_assets.workspace.console.watchdog COMMAND...`` reads a pipe on standard input;
the operating system closes it when the parent is killed.
"""

import os
import signal
import subprocess
import sys
from threading import Thread

TERMINATION_TIMEOUT = 60.0  # s that the command may take to end


def main(command: list[str]) -> int:
    """Run a command; its exit code."""
    started: list[subprocess.Popen[bytes]] = []

    def pass_on(*_: object) -> None:
        for one in started:
            one.send_signal(signal.SIGINT)

    # First: what a shell starts in the background ignores interrupts, and so would the command.
    signal.signal(signal.SIGINT, pass_on)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    started.append(process)
    Thread(target=_end_with_parent, args=[process], daemon=True).start()
    return process.wait()


def _end_with_parent(process: "subprocess.Popen[bytes]") -> None:
    """Wait until nobody holds the other end of standard input; then end all of our group."""
    os.read(sys.stdin.fileno(), 1)  # nobody writes; a buffer of Python's could not be left at exit
    process.send_signal(signal.SIGINT)
    try:
        process.wait(TERMINATION_TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(0, signal.SIGKILL)
    os.killpg(0, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
