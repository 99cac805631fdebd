"""Calls of the interface as a person meets them: short tracebacks, and a summary after Ctrl-C."""

import sys
import sysconfig
import time
import warnings
from collections.abc import Callable
from functools import partial, wraps
from types import TracebackType
from typing import ParamSpec, TypeVar

from bench_assets.core.schema.errors import BenchError
from bench_assets.workspace.console.interrupt_summary import interrupt_summary
from bench_assets.workspace.console.output import print_message
from bench_resources.config.environment import default_home

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")

_PACKAGES = ("bench_assets", "bench_resources", "bench_sensors")
_INSTALLED = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))


def interface(function: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
    """Make a function of the interface raise errors at the caller's line.

    These errors are a ``BenchError``, or a ``TypeError`` for arguments that the function lacks.
    Frames of these packages are cut off; those of the caller's own code, such as the function that
    ``evaluate`` takes, are kept as the cause. After Ctrl-C, a summary is printed. In notebooks,
    tqdm's warning is silenced.
    """

    @wraps(function)
    def call(*arguments: Arguments.args, **options: Arguments.kwargs) -> Value:
        started = time.time()
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "IProgress not found")
                return function(*arguments, **options)
        except (BenchError, TypeError) as error:
            if isinstance(error, TypeError) and error.__traceback__ and error.__traceback__.tb_next:
                raise  # from inside the function, not from its signature
            # IPython shows the lines that this attribute returns.
            vars(error)["_render_traceback_"] = partial(_notebook_traceback, error)
            raise error.with_traceback(None) from _callers_error(error)
        except KeyboardInterrupt as error:
            summary = interrupt_summary(default_home(), started, "make the same call again")
            print_message(summary.strip() or "nothing was stored: no response had arrived yet")
            raise error.with_traceback(None) from None

    return call


def _notebook_traceback(error: Exception) -> list[str]:
    """Cut an error's traceback after the caller's frame; return the lines that IPython shows."""
    traceback = error.__traceback__
    while traceback and traceback.tb_next:
        inner = traceback.tb_next
        if inner.tb_frame.f_code.co_filename == __file__:
            traceback.tb_next = None
        traceback = inner
    shell = sys.modules["IPython"].get_ipython()
    show = shell.InteractiveTB.structured_traceback
    return list(show(type(error), error, error.__traceback__))


def _callers_error(error: BaseException) -> BaseException | None:
    """The exception in the caller's own code that caused an error, with the frames of that code."""
    causes, cause = [], error.__cause__
    while cause and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__
    if "bench_resources.models.registry.python_model" in sys.modules:
        from bench_resources.models.registry.python_model import first_error

        # In a run of Dagster, only its text identifies it.
        raised = first_error()
        if raised and f"{type(raised).__name__}: {raised}" in str(error):
            causes.append(raised)
    for cause in causes:
        if traceback := _callers_traceback(cause.__traceback__):
            return cause.with_traceback(traceback)
    return None


def _callers_traceback(traceback: TracebackType | None) -> TracebackType | None:
    """The frames after the last one of these packages; None if all of them are of libraries."""
    frame = callers = traceback
    while frame:
        module = str(frame.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] in _PACKAGES:
            callers = frame.tb_next
        frame = frame.tb_next
    frame = callers
    while frame:
        if not frame.tb_frame.f_code.co_filename.startswith((*_INSTALLED, "<frozen")):
            return callers
        frame = frame.tb_next
    return None
