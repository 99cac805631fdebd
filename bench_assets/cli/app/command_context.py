"""Context of every command: opens the home folder and reports errors."""

import gc
import shlex
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bench_assets.core.schema.errors import BenchError
from bench_assets.workspace.console.output import print_message
from bench_assets.workspace.console.signals import SignalExit, signal_listener

if TYPE_CHECKING:
    from bench_assets.workspace.evaluate.model_arguments import ModelArguments
    from bench_assets.workspace.materialization.workbench import Workbench
    from bench_resources.config.bench_toml import Settings
    from bench_resources.config.sources_toml import SourceRule


_DISK_FULL = "No usable temporary directory"  # tempfile's error on a full disk; has no filename


@contextmanager
def open_home(  # noqa: PLR0913  (an option each)
    suite: str = "",
    source: str | Path = "",
    judge: str = "",
    scorer: str = "",
    *,
    reader: str = "",
    models: Mapping[str, Any] | None = None,  # sections of ad-hoc models
    review: str = "",  # path of a review form
    accept: Sequence[str] = (),  # outcomes that do not stop a number, besides bench.toml's
    training: Sequence[Path] = (),  # training data, instead of bench.toml's
    rule: "SourceRule" = "evaluated last",  # the source of a suite for which none is named
    read: "Settings | None" = None,  # of bench.toml, if the command has read it
) -> "Generator[Workbench]":
    """Open the home folder."""
    with error_reporting():
        from bench_assets.workspace.materialization.opening import open_workbench

        with open_workbench(
            suite,
            source,
            judge,
            scorer,
            reader=reader,
            models=models,
            review=review,
            accept=accept,
            training=training,
            rule=rule,
            read=read,
        ) as bench:
            gc.freeze()  # exempt the million objects of the start-up from garbage collection
            yield bench


@contextmanager
def open_home_for(  # noqa: PLR0913  (an option each)
    models: Sequence[str],
    suite: str = "",
    source: str | Path = "",
    judge: str = "",
    scorer: str = "",
    elicit: str = "",
    *,
    reader: str = "",
    review: str = "",
    accept: Sequence[str] = (),
) -> "Generator[tuple[Workbench, ModelArguments]]":
    """Open the home folder for an evaluation, and parse its model arguments."""
    with error_reporting():
        from bench_assets.workspace.evaluate.model_arguments import parse_models
        from bench_resources.config.bench_toml import load_settings
        from bench_resources.config.environment import default_home
        from bench_resources.config.known_benchmarks import add_known

        add_known(default_home(), [suite])
        read = load_settings(default_home())
        parsed = parse_models(models, read, elicit)
        with open_home(
            suite,
            source,
            judge,
            scorer,
            reader=reader,
            models=parsed.sections,
            review=review,
            accept=accept,
            rule="stated",
            read=read,
        ) as bench:
            yield bench, parsed


def check_sections(settings: "Settings") -> None:
    """Validate the suite sections of bench.toml, and warn about unusable kinds of models.

    Raises:
        SettingsError: If an entry is unknown.
        UnknownNameError: If a suite does not exist.
    """
    from bench_resources.config.sections.engine_kinds import kind_problems

    for problem in kind_problems(settings.models):
        print_message(f"warning: {problem}")
    if named := {*settings.suites, *settings.sources}:
        from bench_assets.catalog import load_catalog

        found = load_catalog(settings, only=named)
        for problem in found.problems:
            print_message(f"warning: {problem}")
        found.check(settings)


@contextmanager
def error_reporting() -> Generator[None]:
    """Report an error or a signal as one message, without a traceback, and exit with its code."""
    started = time.time()
    with signal_listener() as signals:
        try:
            yield
        except KeyboardInterrupt:
            ending = signals.ended_by()
        except BenchError as error:
            message = "\n".join((f"error: {error}", *getattr(error, "__notes__", ())))
            ending = signals.ended_by() if signals.first else SignalExit(message, 1)
        except OSError as error:
            # without a filename it is a bug, not a problem of the disk
            if not error.filename and _DISK_FULL not in str(error):
                raise
            place = f"{error.filename}: " if error.filename else ""
            ending = SignalExit(f"error: {place}{error.strerror}", 1)
        else:
            return
        print_message(ending.sentence + (_interrupt_summary(started) if signals.first else ""))
        raise typer.Exit(ending.exit_code)


def _interrupt_summary(started: float) -> str:
    """Summarise what was stored; "" if no home was opened. Imports nothing in that case."""
    if "bench_resources.config.bench_toml" not in sys.modules:
        return ""
    from bench_assets.workspace.console.interrupt_summary import interrupt_summary
    from bench_resources.config.environment import default_home

    return interrupt_summary(default_home(), started, shlex.join(["bench", *sys.argv[1:]]))
