"""Freshness of tables: digests of their inputs.

Inputs count by content, not by path, so that a copied home, or one with shared tables, stays
fresh. ``table_groups`` says which inputs belong to which tables.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import dagster as dg

import bench_assets
from bench_assets.core.schema.errors import BenchError, HomeError, TableError
from bench_assets.core.schema.provenance import json_digest
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.suite import Suite, SuiteSettings
from bench_assets.features import open_annotation_backend
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from bench_resources.datasets.source_files import SuiteSource
from bench_resources.models.registry.setup import named_files, state_of
from bench_resources.storage.file_digests import file_states, home_digests, iter_texts
from bench_resources.tables.locations import SOURCES_FOLDER, TableLocations
from bench_resources.tables.parquet import TableFiles

NOTES_FOLDER = ".built"
"""Folder beside the tables with a note on the inputs of each group of tables."""

_PACKAGE = Path(bench_assets.__path__[0])
_BUILD_CODE = ("core", "evaluation", "file_benchmarks", "asset_factory", "annotation")
LEADERBOARD_CODE = ("comparison", "defs")
_ABSENT = "-"  # before the name of a table that was not written
_MANY = 1 << 16  # images; their digests would take 2 kB each
# settings that do not affect questions, such as judge and scorer
_EVALUATION_SETTINGS = frozenset(SuiteSettings.model_fields)


@dataclass(frozen=True, kw_only=True)
class TableGroup:
    """Assets that are materialized together, and their current inputs."""

    name: str
    select: Callable[[], Set[dg.AssetKey]]  # finds the assets in the graph, which it builds
    made_of: str  # digest of the inputs
    model: str = ""  # whose tables they are; "": not per model
    tables: TableFiles
    images: Path | None  # image folder, which must still exist; its content is not checked

    @cached_property
    def keys(self) -> Set[dg.AssetKey]:
        """The assets."""
        return self.select()

    def is_fresh(self) -> bool:
        """Whether all tables were materialized from the same inputs, and are undamaged.

        The inputs include the code, so that the recorded tables are all of them.
        """
        recorded, *names = self._noted().split("\n")
        try:
            return recorded.startswith(self.made_of) and recorded == self._note(names)
        except TableError:
            return False

    def note(self) -> None:
        """Record that all tables are up to date, unless a failed request has to be retried."""
        if self.model and any(self.tables.has_errors(key.path, self.model) for key in self.keys):
            return
        names = [
            ("" if self.tables.exists(key.path, self.model) else _ABSENT) + key.to_user_string()
            for key in sorted(self.keys)
        ]
        text = "\n".join((self._note(names), *names))
        self.tables.blobs.put(self._name, text.encode(), sync=False)

    def _noted(self) -> str:
        with suppress(HomeError):  # a folder in its place: treat as stale
            return (self.tables.blobs.get(self._name) or b"").decode(errors="replace")
        return ""

    @property
    def _name(self) -> str:
        name = f"{self.name} {self.model}".strip()
        suite = self.name.split()[0].partition("/")[0]
        return f"{notes_folder(self.tables, suite)}/{quote(name, safe=' ')}"

    def _note(self, names: Iterable[str]) -> str:
        """Build the note of the present state of tables.

        Raises:
            TableError: If a table is damaged.
        """
        keys = [name.removeprefix(_ABSENT).split("/") for name in names]
        states = [self.tables.state(key, self.model) for key in keys]
        has_images = self.images is None or self.images.is_dir()
        return f"{self.made_of} {json_digest([has_images, *states])}"


def inputs_digest(settings: Settings, suite: Suite, source: SuiteSource) -> str:
    """Digest of a suite's inputs: source, settings, models, code.

    Code is that of the suite and of the packages that dataset builds share. Models and paths in
    the suite's settings are included with their own settings and content, as are images of a file
    benchmark. The mini edition's folder is not included, because code generates it.
    """
    chosen = _build_settings(settings, suite.name)
    models = {name: state_of(name, settings) for name in build_models(settings, suite.name)}
    folders = [*([] if source.is_mini else [source.folder]), *named_files(chosen, settings)]
    if benchmark := settings.benchmarks.get(suite.name):
        chosen["benchmark"] = benchmark.model_dump(mode="json")
        chosen["images"] = _images(benchmark, suite.name, source, settings)
        others = [benchmark.shots_file, benchmark.answers_file and benchmark.answers_file.file]
        folders += [settings.resolve(file) for file in others if file]
    read = home_digests(settings.home).of(folders)
    facts = [
        chosen,
        models,
        source.is_mini,
        *read,
        *code_digests(settings.home, suite),
    ]
    return json_digest([*facts, *_annotation_inputs(settings, suite)])


def build_models(settings: Settings, suite: str) -> Collection[str]:
    """Models that take part in the build of a suite's questions, such as a writer."""
    return settings.models.keys() & set(iter_texts(_build_settings(settings, suite)))


def _build_settings(settings: Settings, suite: str) -> dict[str, Any]:
    entries = settings.suites.get(suite, {}).items()
    return {name: value for name, value in entries if name not in _EVALUATION_SETTINGS}


def _images(
    benchmark: FileBenchmarkSettings, name: str, source: SuiteSource, settings: Settings
) -> str:
    """Digest the images that a file benchmark names.

    More than ``_MANY`` images are compared by size and modification time, since reading is slow.
    """
    from bench_assets.file_benchmarks.questions import (
        benchmark_location,
        image_files,
    )  # takes 0.1 s

    files = image_files(benchmark, benchmark_location(name, source.folder, settings))
    is_few = len(files) <= _MANY
    paths = map(Path, files)
    facts: Iterable[list[Any]] = (
        home_digests(settings.home).of(paths) if is_few else file_states(paths)
    )
    state = sha256()
    for fact in facts:
        state.update(json_digest(fact).encode())
    return state.hexdigest()


def _annotation_inputs(settings: Settings, suite: Suite) -> Iterator[object]:
    """Answers to the suite's configured annotation tasks, with their settings."""
    for form in suite.annotation_tasks:
        if (task_settings := settings.annotation.tasks.get(form.task.name)) is None:
            continue
        yield [form.task.name, settings.annotation.kind, task_settings.model_dump(mode="json")]
        try:
            yield digest(open_annotation_backend(settings).answers(form.task))
        except BenchError as error:  # building the tables reports it
            yield str(error)


def code_digests(home: Path, *suites: Suite, packages: Sequence[str] = ()) -> Iterator[list[str]]:
    """Names and digests of the code files that produce tables of these suites.

    Args:
        home: The home, which keeps digests.
        suites: The suites.
        packages: Further packages of ours that count.
    """
    digests = home_digests(home)
    yield from digests.of(_PACKAGE / name for name in (*_BUILD_CODE, *packages))
    yield from digests.of(path for suite in suites for path in suite.code)


def notes_folder(tables: TableLocations, suite: str) -> str:
    """Folder of a suite's notes."""
    root = tables.root(suite)
    return f"{root}/{NOTES_FOLDER}" if root else NOTES_FOLDER


def noted_tables(text: str) -> list[str]:
    """Names of the tables that a note records as present."""
    return [name for name in text.split("\n")[1:] if not name.startswith(_ABSENT)]


def invalidated_note(text: str) -> str:
    """The note, with its tables marked as stale."""
    return "\n".join(("", *noted_tables(text)))


def model_notes(tables: TableLocations, model: str) -> list[str]:
    """Names of all notes of a model's tables, for all sources."""
    roots = ["", *(f"{SOURCES_FOLDER}/{one}/" for one in tables.blobs.folders(SOURCES_FOLDER))]
    ending = f" {quote(model, safe=' ')}"
    listed = (one.name for root in roots for one in tables.blobs.list(f"{root}{NOTES_FOLDER}"))
    return [name for name in listed if name.endswith(ending)]
