"""State of a suite's source: what its questions are made of, and what has changed since.

The file of a question table holds the state at the beginning of its build. An unchanged file costs
one stat.
"""

import json
import os
from collections import defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, Self, cast

import dagster as dg
from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError

from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.core.schema.provenance import json_digest
from bench_assets.core.schema.rows import SourceFile
from bench_assets.core.tables.read_rows import FileRows, collect_rows, take_rows
from bench_resources.config.bench_toml import Settings
from bench_resources.config.known_benchmarks import FOLDER
from bench_resources.datasets.drift import GUARDED_STAGES, Base, DriftError, DriftGuard, differences
from bench_resources.datasets.source_files import SuiteSource, configured_release, open_source
from bench_resources.runs.orphaned_runs import RunTableIOManager
from bench_resources.storage.file_digests import home_digests
from bench_resources.tables.asset_types import asset_row_type
from bench_resources.tables.file_bytes import SOURCE_STATE
from bench_resources.tables.parquet import PART_FIELD, TableFiles

ROOT_KEY = "bench/root"
"""Metadata of a ``source`` table: the folder of its paths, if that is not the source."""

_BASE_FORM = {"form of bases": 2}  # bases of another form are no bases
_AFTERWARDS = frozenset({"judge", "reader", "scorer", "accept", "expect"})
"""Settings of a suite that its tables do not depend on."""

_MANY = 50  # files of a folder; more have one digest together
_DIGITS = 12  # hexadecimal digits of a digest


class SourceState(BaseModel):
    """Digests of the files of a source, and of the settings of its suite."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: Mapping[str, str] = {}  # by name from the source on; none of a mini edition or a release
    settings: Mapping[str, str] = {}  # by name in the suite's section
    others: tuple[str, ...] = ()  # files outside of the source that its rows name, from it on

    @classmethod
    def at_build(
        cls, suite: str, settings: Settings, rows: Iterable[SourceFile], root: str
    ) -> Self:
        """Read the state when a source is recorded as ``rows``.

        Their paths begin at the folder ``root``; "": at the source.

        Raises:
            BenchError: If the source cannot be opened.
        """
        source = _open_folder_source(suite, settings)
        if source is None or not root:
            return cls._read(suite, settings, source, ())
        files = [Path(root, row.path) for row in rows]
        outside = [file for file in files if not file.is_relative_to(source.folder)]
        other_files = tuple(os.path.relpath(file, source.folder) for file in outside)
        return cls._read(suite, settings, source, other_files)

    @classmethod
    def _read(
        cls,
        suite: str,
        settings: Settings,
        source: SuiteSource | None,
        other_files: tuple[str, ...],
    ) -> Self:
        digests = {name: json_digest(value)[:_DIGITS] for name, value in _section(suite, settings)}
        files = dict(_file_digests(source, other_files, settings)) if source else {}
        return cls(files=files, settings=digests, others=other_files)

    @classmethod
    def parse(cls, text: bytes | None) -> Self | None:
        """Read a recorded state; None if there is none."""
        with suppress(ValidationError):
            return cls.model_validate_json(text) if text else None
        return None

    def encode(self) -> str:
        """Format as JSON."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True)

    def changes(self, suite: str, settings: Settings, ignored: Collection[str] = ()) -> list[str]:
        """Describe what has changed since, files first, without the ``ignored`` settings.

        The only change of a source that cannot be opened is the reason.
        """
        try:
            now = self._read(suite, settings, _open_folder_source(suite, settings), self.others)
        except (SourceError, SettingsError) as error:
            return [str(error)]
        return [
            *differences(self.files, now.files),
            *(
                f"the setting {change}"
                for change in differences(self.settings, now.settings)
                if change.partition(" ")[0] not in ignored
            ),
        ]


class HomeTableIOManager(RunTableIOManager):
    """A ``RunTableIOManager`` that records each source with its state, and stops drift."""

    accept: bool = False
    """Accept in this run that raw files or tables lost rows, or reject more than before."""

    _new_bases: dict[str, tuple[DriftGuard, dict[str, Base]]] = PrivateAttr(default_factory=dict)
    """By suite: bases of what this run has written. None is kept of a source that any step refuses:
    the mended one would be compared with it."""

    _refused: set[str] = PrivateAttr(default_factory=set)  # suites

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Generator[Any]:
        """Collect the rows of raw files that the run reads, for comparisons with earlier builds.

        At the end of the run, the new bases of each suite without drift replace the earlier ones.
        """
        self._new_bases.clear()
        self._refused.clear()
        with collect_rows(), super().yield_for_execution(context) as manager:
            yield manager
        for suite, (guard, bases) in self._new_bases.items():
            if suite not in self._refused:
                guard.keep(bases)

    def handle_output(self, context: dg.OutputContext, obj: Sequence[Any]) -> None:
        """Write the table of the asset or partition.

        Raises:
            DriftError: If the table, or a raw file that its step read, drifted.
        """
        rows_by_file = take_rows()
        suite = context.asset_key.path[0]
        is_part = PART_FIELD in context.definition_metadata
        is_partition = context.has_asset_partitions and not is_part
        is_compared = not is_partition and (rows_by_file or _is_guarded_table(context))
        source = _open_folder_source(suite, cast(Settings, self.settings)) if is_compared else None
        if source and not source.is_mini:
            try:
                self._check_drift(context, obj, source.folder, rows_by_file)
            except DriftError:
                self._refused.add(suite)
                raise
        super().handle_output(context, obj)

    def _check_drift(
        self,
        context: dg.OutputContext,
        rows: Sequence[Any],
        folder: Path,
        rows_by_file: Mapping[Path, FileRows],
    ) -> None:
        """Compare a table, and the files that its step read, with their bases; keep new ones."""
        key, row_type = context.asset_key.path, asset_row_type(context)
        settings, tables = cast(Settings, self.settings), cast(TableFiles, self.files)
        if row_type is SourceFile:
            state = SourceState.at_build(key[0], settings, rows, _root(context))
        else:
            state = SourceState.parse(tables.source_state([key[0], "source"])) or SourceState()
        guard = _guard(tables, key[0], settings, state)
        if self.accept:
            guard = replace(guard, accepted=f"run {context.run_id}")
        _, bases = self._new_bases.setdefault(key[0], (guard, {}))
        if row_type is SourceFile:
            # Its step reads files to find images; the step that makes questions judges the rows.
            guard.check_presence(folder if folder.is_dir() else folder.parent)
            return
        names = {file: _source_name(file, folder) for file in rows_by_file}
        files = {name: rows_by_file[file] for file, name in names.items() if name}
        bases |= guard.check_files(files)
        if _is_guarded_table(context):
            bases |= guard.check_table(key, rows, row_type)

    def footer(
        self, context: dg.OutputContext, rows: Sequence[Any], row_type: type[Any]
    ) -> Mapping[bytes, str | bytes]:
        """As in a ``TableIOManager``; a source is recorded with its state."""
        if row_type is not SourceFile:
            return super().footer(context, rows, row_type)
        suite, settings = context.asset_key.path[0], cast(Settings, self.settings)
        return {SOURCE_STATE: SourceState.at_build(suite, settings, rows, _root(context)).encode()}


def accept_drift(tables: TableFiles, suite: str, settings: Settings) -> str:
    """Accept the next build of a suite's source as it is now, once; returns the user and the day.

    Raises:
        SourceError: If there is no such source, or it is a mini edition or a release.
    """
    source = _open_folder_source(suite, settings)
    if source is None or source.is_mini:
        raise SourceError(
            f"{suite}: its source is no folder or file of [sources], and never drifts"
        )
    recorded = SourceState.parse(tables.source_state([suite, "source"])) or SourceState()
    state = SourceState._read(suite, settings, source, recorded.others)
    return _guard(tables, suite, settings, state).accept()


def _is_guarded_table(context: dg.OutputContext) -> bool:
    """Whether a table is compared with its base; of a part, the whole is compared later."""
    is_part = PART_FIELD in context.definition_metadata
    return not is_part and context.asset_spec.tags.get("bench/stage", "") in GUARDED_STAGES


def _guard(tables: TableFiles, suite: str, settings: Settings, state: SourceState) -> DriftGuard:
    """The guard of a suite's source, which ignores settings that tables do not depend on."""
    benchmark = settings.benchmarks.get(suite)
    expected = benchmark.expect if benchmark else settings.suites.get(suite, {}).get("expect", {})
    # The author of rows that are made in Python may change them freely.
    is_python = benchmark and settings.resolve(benchmark.file).is_relative_to(
        settings.home / FOLDER / suite
    )
    build_settings = {k: v for k, v in state.settings.items() if k not in _AFTERWARDS}
    return DriftGuard(
        tables=tables,
        suite=suite,
        settings=json_digest(build_settings | _BASE_FORM),
        source=state.files,
        limit=1.0 if is_python else settings.drift,
        expected=expected,
    )


def _root(context: dg.OutputContext) -> str:
    """Folder of the paths of a ``source`` table; "" if it is the source."""
    root = context.output_metadata.get(ROOT_KEY, "")
    return str(getattr(root, "value", root))


def _source_name(file: Path, folder: Path) -> str:
    """Name of a file from its source on, which may be the file; "" for another file."""
    if file == folder:
        return file.name
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else ""


def _open_folder_source(suite: str, settings: Settings) -> SuiteSource | None:
    """The source; None for a release, whose address names its content."""
    if configured_release(settings, suite):
        return None
    return open_source(suite, settings)


def _section(suite: str, settings: Settings) -> Iterator[tuple[str, Any]]:
    """Settings of a suite by name, and of a benchmark without Python."""
    yield from settings.suites.get(suite, {}).items()
    if benchmark := settings.benchmarks.get(suite):
        yield from benchmark.model_dump(mode="json", exclude={"file"}).items()


def _file_digests(
    source: SuiteSource, other_files: Iterable[str], settings: Settings
) -> Iterator[tuple[str, str]]:
    """Names and digests of the files of a source; many files of a folder have one together."""
    if source.is_mini:
        return
    digests = home_digests(settings.home)
    listed = [
        (_below_source(name), digest)
        for name, digest in digests.of([source.folder])
        if not _is_hidden(name)
    ]
    paths = {name: Path(os.path.normpath(source.folder / name)) for name in other_files}
    existing = {name: path for name, path in paths.items() if path.exists()}
    other_digests = [digest for _, digest in digests.of(existing.values())]
    listed += zip(existing, other_digests, strict=True)
    folders = defaultdict[str, list[tuple[str, str]]](list)
    for name, digest in sorted(listed):
        folders[str(PurePath(name).parent)].append((name, digest[:_DIGITS]))
    for folder, files in sorted(folders.items()):
        if len(files) <= _MANY:
            yield from files
        else:
            yield f"a file of {folder}", json_digest(files)[:_DIGITS]


def _below_source(name: str) -> str:
    """Name of a file without the folder of its source, which may be moved."""
    parts = PurePath(name).parts
    return str(PurePath(*parts[1:])) if len(parts) > 1 else name


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in PurePath(name).parts[1:])
