"""Signal handling: the first signal interrupts with a message, the second ends at once.

Dagster installs its own handlers around every step, which hide the signal. A wakeup file descriptor
receives all signals, and a thread reads it, even while the main thread is inside a library.
Imported first by ``bench``, so it imports nothing of the project.
"""

import multiprocessing
import os
import select
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Event, Thread, current_thread, main_thread
from typing import NamedTuple

SIGNAL_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}
RESUME_MESSAGE = (
    "finished tables and received responses are kept; run the same command again to continue"
)
EXIT_BASE = 128  # exit code before the signal's number is added, as in shells
_WAKE_UP_SECONDS = 1.0  # s for the listener thread to wake up
_NOTICE_SECONDS = 2.0  # s until a message explains that the command is still ending


def block_ignored_signals() -> set[int | signal.Signals]:
    """Block the signals that the parent process ignores; returns the previous mask.

    Threads inherit the mask only if they start afterwards.
    """
    ignored = [number for number in SIGNAL_NAMES if signal.getsignal(number) == signal.SIG_IGN]
    return signal.pthread_sigmask(signal.SIG_BLOCK, ignored)


class Signals:
    """The signals received so far."""

    def __init__(self) -> None:
        self.first: signal.Signals | None = None
        self._is_received = Event()

    def note(self, number: int) -> None:
        """Record ``number`` as the first signal."""
        self.first = signal.Signals(number)
        self._is_received.set()

    def command_end(self) -> "CommandEnd":
        """End of an interrupted command, by Ctrl-C if no signal is recorded within a second."""
        self._is_received.wait(_WAKE_UP_SECONDS)
        first = self.first or signal.SIGINT
        return CommandEnd(f"stopped by {SIGNAL_NAMES[first]}: {RESUME_MESSAGE}", EXIT_BASE + first)


class CommandEnd(NamedTuple):
    """Message and exit code of a command that a signal or an error ends."""

    sentence: str
    exit_code: int


@contextmanager
def signal_listener() -> Generator[Signals]:
    """Listen for signals during the block; the first raises ``KeyboardInterrupt``.

    Signals that the parent process ignores (``nohup``, a shell's background jobs) are blocked, so
    that they stay ignored although Dagster installs a handler.
    """
    received = Signals()
    if current_thread() is not main_thread():  # only the main thread can handle signals
        yield received
        return
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    listening = Thread(target=_listen, args=(read_end, received), daemon=True)
    previous_fd = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    handlers = {number: signal.getsignal(number) for number in SIGNAL_NAMES}
    mask = block_ignored_signals()
    listening.start()
    try:
        for number in handlers:
            signal.signal(number, signal.default_int_handler)
        yield received
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.set_wakeup_fd(previous_fd)
        os.close(write_end)
        listening.join()
        os.close(read_end)


def _listen(read_end: int, received: Signals) -> None:
    """Record the first signal; end the process and its children with the second."""
    while data := os.read(read_end, 1):
        number = data[0]
        if number not in SIGNAL_NAMES:
            continue
        if received.first is None:
            received.note(number)
            if not select.select([read_end], [], [], _NOTICE_SECONDS)[0]:
                _write("stopping after the current step; repeat the signal to end at once")
        elif number != signal.SIGHUP:  # a closing terminal sends two
            for child in multiprocessing.active_children():
                child.kill()
            _write(f"ended at once; {RESUME_MESSAGE}")
            os._exit(EXIT_BASE + number)


def _write(text: str) -> None:
    with suppress(OSError, ValueError):  # the reader may be gone
        sys.stderr.write(f"\n{text}\n")
        sys.stderr.flush()
