"""Exit codes, messages and the mask of signals; imported first, so it imports nothing."""

import signal

SIGNAL_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}
RESUME_MESSAGE = (
    "what was finished is kept, with every response that arrived; the same command goes on there"
)
EXIT_BASE = 128  # and the number of the signal, as shells have it


def block_ignored_signals() -> set[int | signal.Signals]:
    """Block the signals that the parent process ignores; returns the mask before.

    Only threads that are started afterwards have the mask, too.
    """
    ignored = [one for one in SIGNAL_NAMES if signal.getsignal(one) == signal.SIG_IGN]
    return signal.pthread_sigmask(signal.SIG_BLOCK, ignored)
