"""Exit codes, messages and the mask of signals; imported first, so it imports nothing."""

import signal

SIGNAL_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}
RESUME_MESSAGE = (
    "finished tables and received responses are kept; run the same command again to continue"
)
EXIT_BASE = 128  # plus the signal's number, as in shells


def block_ignored_signals() -> set[int | signal.Signals]:
    """Block the signals that the parent process ignores; returns the previous mask.

    Threads inherit the mask only if they start afterwards.
    """
    ignored = [one for one in SIGNAL_NAMES if signal.getsignal(one) == signal.SIG_IGN]
    return signal.pthread_sigmask(signal.SIG_BLOCK, ignored)
