"""Entry point of ``bench``: signal handling, redacted arguments and tracebacks.

Loading the rest takes most of a second. These handlers cover that time; afterwards
``bench_assets.workspace.console.signals`` does.
"""

import errno
import gc
import os
import re
import signal
import sys
from types import FrameType

from bench_assets.workspace.console.signals import (
    EXIT_BASE,
    RESUME_MESSAGE,
    SIGNAL_NAMES,
    block_ignored_signals,
)

_GC_THRESHOLDS = 50_000, 100
"""Garbage collection thresholds of the two young generations; the defaults suit small programs."""

_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.ESTALE}


def main() -> None:
    """Run ``bench``."""
    gc.set_threshold(*_GC_THRESHOLDS)
    _hide_keys_in_arguments()
    block_ignored_signals()  # before numpy and others start their threads
    for number in SIGNAL_NAMES:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _exit_on_signal)
    os.environ.setdefault("TQDM_DISABLE", "1")  # no bars of other libraries; read at import
    # Dagster's migrations import mako, whose highlighted error pages load 4 MiB of grammars and
    # are never shown. None makes that import fail, as if Pygments were not installed.
    sys.modules.setdefault("mako.ext.pygmentplugin", None)  # type: ignore[arg-type]
    from bench_assets.cli.main import app
    from bench_resources.config.environment import default_home
    from bench_resources.redaction.logs import redact_stderr

    redact_stderr(default_home())
    try:
        app()
    except OSError as error:
        if error.errno not in _DISK_ERRORS:
            raise
        sys.exit(f"error: {error.filename or 'standard output, or a file'}: {error.strerror}")


def _hide_keys_in_arguments() -> None:
    """Restart with variables in place of keys, if any: all users can see command lines."""
    arguments = sys.argv[1:]
    if not any("://" in argument or "=" in argument for argument in arguments):
        return
    from bench_resources.config.addresses import template_of_argument

    redacted = [template_of_argument(argument) for argument in arguments]
    if redacted != arguments:
        variables = set(re.findall("BENCH_KEY_[0-9A-F]{8}", " ".join(redacted)))
        names = ", ".join(sorted(variables))
        sys.stderr.write(
            f"{names}: environment variable that now holds the key of this command line. Set it"
            " for later commands: the key is not stored\n"
        )
        interpreter_arguments = sys.orig_argv[1 : -len(arguments)]
        os.execv(sys.executable, [sys.executable, *interpreter_arguments, *redacted])


def _exit_on_signal(number: int, _: FrameType | None) -> None:
    """Exit immediately, because an import may catch ``KeyboardInterrupt``."""
    message = f"stopped by {SIGNAL_NAMES[signal.Signals(number)]}: {RESUME_MESSAGE}\n"
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, message.encode())
    os._exit(EXIT_BASE + number)
