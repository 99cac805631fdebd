"""Access to the Ray cluster, with timeouts.

Ray waits silently for minutes if no cluster answers.
"""

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path
from typing import TypeVar

from bench_assets.core.extras import is_installed
from bench_assets.core.schema.errors import BenchError

Result = TypeVar("Result")

_TOKEN_FILE = "~/.ray/auth_token"  # Ray's default


def missing_token() -> str:
    """Message about a missing token, without which Ray ends this process; "" if none is missing."""
    if os.environ.get("RAY_AUTH_MODE", "").lower() != "token" or os.environ.get("RAY_AUTH_TOKEN"):
        return ""
    file = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or _TOKEN_FILE).expanduser()
    if file.is_file():
        return ""
    return f"RAY_AUTH_MODE is token, but there is no RAY_AUTH_TOKEN, and no {file}"


def cluster_errors() -> tuple[type[Exception], ...]:
    """Exceptions that Ray's client raises for an unreachable cluster or a wrong token."""
    errors: tuple[type[Exception], ...] = (OSError, RuntimeError, ValueError)
    if not is_installed("ray"):
        return errors
    from ray.exceptions import RayError

    return (*errors, RayError)


def run_with_timeout(seconds: float, work: Callable[[], Result]) -> Result:
    """Run a function with a timeout, in a thread that is abandoned when it expires.

    It is not the main thread, in which Ray would replace the SIGTERM handler.

    Raises:
        TimeoutError: If it takes longer; the message is the timeout, such as "60 s".
        Exception: What ``work`` raises.
    """
    future: Future[Result] = Future()
    expected_errors: tuple[type[Exception], ...] = (BenchError, *cluster_errors())

    def run() -> None:
        try:
            future.set_result(work())
        except expected_errors as error:
            future.set_exception(error)
        finally:
            if not future.done():  # a bug: the thread's traceback is printed too
                future.set_exception(sys.exception())

    threading.Thread(target=run, daemon=True).start()
    if not wait([future], seconds).done:
        raise TimeoutError(f"{seconds:.0f} s")
    return future.result()
