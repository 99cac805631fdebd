"""Context of every command: opens the home folder and reports errors."""

import gc
import os
import shlex
import sys
import time
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from bench_assets.core.schema.errors import BenchError
from bench_assets.workspace.console.output import print_message
from bench_assets.workspace.console.signals import CommandEnd, signal_listener
from bench_resources.config.environment import default_home

_DISK_FULL = "No usable temporary directory"  # tempfile's error on a full disk; has no filename

if TYPE_CHECKING:
    from bench_assets.workspace.materialization.opening import open_workbench
    from bench_assets.workspace.materialization.workbench import Workbench
    from bench_resources.config.bench_toml import Settings

    open_home = open_workbench
else:

    @contextmanager
    def open_home(*arguments: object, **options: object) -> "Generator[Workbench]":
        """Open the home folder as ``open_workbench`` does, and report errors."""
        with error_reporting():
            from bench_assets.workspace.materialization.opening import open_workbench

            with open_workbench(*arguments, **options) as bench:
                gc.freeze()  # exempt the million objects of the start-up from collection
                yield bench


def check_sections(settings: "Settings") -> None:
    """Validate the suite sections of bench.toml; warn about unusable kinds of models and suites.

    Raises:
        SettingsError: If an entry of a suite's section is unknown or invalid.
        UnknownNameError: If a suite does not have an annotation task that bench.toml names.
    """
    from bench_resources.config.sections.engine_kinds import kind_problems

    for problem in kind_problems(settings.models):
        print_message(f"warning: {problem}")
    if section_names := {*settings.suites, *settings.sources}:
        from bench_assets.catalog import load_catalog

        catalog = load_catalog(settings, only=section_names)
        for problem in catalog.problems:
            print_message(f"warning: {problem}")
        catalog.check(settings)


@contextmanager
def error_reporting() -> Generator[None]:
    """Report a ``BenchError``, an error of a file or a signal in one message, and exit.

    With ``BENCH_TRACEBACK``, the traceback of an error comes first.
    """
    start_time = time.time()
    with signal_listener() as signals:
        try:
            yield
        except KeyboardInterrupt:
            ending = signals.command_end()
        except BenchError as error:
            _print_traceback()
            message = "\n".join((f"error: {error}", *getattr(error, "__notes__", ())))
            ending = signals.command_end() if signals.first else CommandEnd(message, 1)
        except OSError as error:
            # without a filename it is a bug, not a problem of the disk
            if not error.filename and _DISK_FULL not in str(error):
                raise
            _print_traceback()
            file_prefix = f"{error.filename}: " if error.filename else ""
            ending = CommandEnd(f"error: {file_prefix}{error.strerror}", 1)
        else:
            return
        print_message(ending.sentence + (_interrupt_summary(start_time) if signals.first else ""))
        raise typer.Exit(ending.exit_code)


def _print_traceback() -> None:
    if os.environ.get("BENCH_TRACEBACK"):
        traceback.print_exc()


@contextmanager
def open_settings() -> Generator["Settings"]:
    """Read bench.toml of the home, and report errors of the block."""
    with error_reporting():
        from bench_resources.config.bench_toml import load_settings

        yield load_settings(default_home())


def raise_last(errors: Sequence[BenchError]) -> None:
    """Raise the last error, after printing the others; do nothing without one."""
    for error in errors[:-1]:
        print_message(f"error: {error}")
    if errors:
        raise errors[-1]


def _interrupt_summary(start_time: float) -> str:
    """Summarise what was stored; "" if no bench.toml was read."""
    if "bench_resources.config.bench_toml" not in sys.modules:
        return ""
    from bench_assets.workspace.console.interrupt_summary import interrupt_summary

    return interrupt_summary(default_home(), start_time, shlex.join(["bench", *sys.argv[1:]]))
