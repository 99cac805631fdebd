"""Context of every command: opens the home folder and reports errors.

What a command that was ended leaves behind: counted on the disk, whoever wrote it.
"""

import gc
import shlex
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bench_assets.core.schema.errors import BenchError, SettingsError
from bench_assets.workspace.console.output import print_message, progress_style
from bench_assets.workspace.console.signals import SignalExit, signal_listener

if TYPE_CHECKING:
    from bench_assets.workspace.materialization.workbench import Workbench
    from resources.config.bench_toml import Settings
    from resources.config.settings_resource import SettingsResource


def interrupt_summary(home: Path, started: float) -> str:
    """Say what came since a command began, and how it is begun again; "" where nothing came.

    Args:
        home: The home folder.
        started: s since the epoch.
    """
    n_tables, n_responses = _tables_since(home / "tables", started), _responses_since(home, started)
    if not n_tables and not n_responses:
        return ""
    command = shlex.join(["bench", *sys.argv[1:]])
    return f"\nkept since it began: {n_responses} responses, {n_tables} tables; to go on: {command}"


def _tables_since(folder: Path, started: float) -> int:
    return sum(file.stat().st_mtime >= started for file in folder.rglob("*.parquet"))


def _responses_since(home: Path, started: float) -> int:
    from resources.config.bench_toml import load_settings
    from resources.config.stores import existing_response_store

    try:
        store = existing_response_store(load_settings(home))
        return store.n_since(datetime.fromtimestamp(started, UTC)) if store else 0
    except BenchError:  # the next command will say so
        return 0


_DISK_FULL = "No usable temporary directory"  # as tempfile says of full disks, without a file
_GC_THRESHOLD = 50_000  # new objects that make Python look for cycles; 700 is for small programs


@contextmanager
def open_home(  # noqa: PLR0913  (an option each)
    suite: str = "",
    source: Path | None = None,
    judge: str = "",
    reading: str = "",
    *,
    models: Mapping[str, Any] | None = None,  # sections that bench.toml does not have
    training: Sequence[Path] = (),  # what models were trained on, instead of bench.toml's
    scratch: bool = False,
) -> "Generator[Workbench]":
    """Open the home folder; with ``scratch``, tables go to a folder that is deleted again."""
    gc.disable()
    with error_reporting(), _temporary_folder(wanted=scratch) as temporary:
        from bench_assets.catalog import load_catalog
        from bench_assets.workspace.materialization.workbench import Workbench
        from resources.config.environment import (
            default_home,
            set_openmp_passive,
            short_key_warnings,
        )
        from resources.config.sections.engine_kinds import kind_problems
        from resources.redaction.logs import redact_logs

        redact_logs(default_home())
        set_openmp_passive()
        whole = suite.partition("/")[0]  # a task has the source of its suite
        chosen = {"judge": judge, "reading": reading}
        settings = _settings_of(whole, source, chosen, models or {}, training)
        written = settings.load()
        catalog = load_catalog(written, only={whole, *written.suites} if whole else None)
        kinds = kind_problems(written.models)
        _warn([*catalog.problems, *kinds, *short_key_warnings(written.models)])
        with Workbench(
            settings,
            [whole] if whole else (),
            catalog=catalog,
            scratch=temporary,
            progress=progress_style(),
        ) as bench:
            left_out = bench.catalog.problems[len(catalog.problems) :]
            if whole and left_out:
                raise SettingsError("; ".join(left_out))
            _warn(left_out)
            _relax_garbage_collection()
            yield bench


def _settings_of(
    suite: str,
    source: Path | None,
    chosen: Mapping[str, str],
    models: Mapping[str, Any],
    training: Sequence[Path],
) -> "SettingsResource":
    """The home's settings, with what a command was told to have otherwise."""
    from resources.config.environment import default_home
    from resources.config.settings_resource import SettingsResource

    given = {key: value for key, value in chosen.items() if value}
    return SettingsResource(
        home=str(default_home()),
        sources={suite: str(source)} if source else {},
        suites={suite: given} if given else {},
        models=dict(models),
        training=list(map(str, training)),
    )


def check_sections(settings: "Settings") -> None:
    """Refuse entries of bench.toml that nothing reads, where only models are asked for.

    Tells of kinds of models that are left out.

    Raises:
        SettingsError: If there is one.
        UnknownNameError: If a suite is named that there is not.
    """
    from resources.config.sections.engine_kinds import kind_problems

    _warn(kind_problems(settings.models))
    if named := {*settings.suites, *settings.sources}:
        from bench_assets.catalog import load_catalog

        load_catalog(settings, only=named).check(settings)


@contextmanager
def _temporary_folder(*, wanted: bool) -> "Generator[Path | None]":
    """Make a folder that is deleted again; none where none is wanted: the disk may be full."""
    if not wanted:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _warn(problems: Sequence[str]) -> None:
    for problem in problems:
        print_message(f"warning: {problem}")


def _relax_garbage_collection() -> None:
    """Set what start-up made aside, a million objects that stay: the collector finds nothing."""
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD)
    gc.enable()


@contextmanager
def error_reporting() -> Generator[None]:
    """Tell what went wrong in one message, without a stack of ours; or which signal ended it."""
    started = time.time()
    with signal_listener() as signals:
        try:
            yield
        except KeyboardInterrupt:
            ending = signals.ended_by()
        except BenchError as why:
            ending = signals.ended_by() if signals.first else SignalExit(f"error: {why}", 1)
        except OSError as why:
            # no place of the disk's: our mistake
            if not why.filename and _DISK_FULL not in str(why):
                raise
            place = f"{why.filename}: " if why.filename else ""
            ending = SignalExit(f"error: {place}{why.strerror}", 1)
        else:
            return
        print_message(ending.sentence + (_interrupt_summary(started) if signals.first else ""))
        raise typer.Exit(ending.exit_code)


def _interrupt_summary(started: float) -> str:
    """Say what was kept; nothing is loaded for it: who has not opened a home has kept nothing."""
    if "resources.config.bench_toml" not in sys.modules:
        return ""
    from resources.config.environment import default_home

    return interrupt_summary(default_home(), started)
