"""Exit codes and messages of signals; imported first, so it imports nothing."""

import signal

SIGNAL_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}
RESUME_MESSAGE = (
    "what was finished is kept, with every response that arrived; the same command goes on there"
)
EXIT_BASE = 128  # and the number of the signal, as shells have it
