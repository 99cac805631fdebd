"""Disk usage of a home and of its object store, with the command that frees each part."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from urllib.parse import unquote

from bench_resources.config.bench_toml import Settings
from bench_resources.config.environment import IMPORTS_FILE, MODELS_FILE
from bench_resources.config.known_benchmarks import FOLDER as BENCHMARKS_FOLDER
from bench_resources.config.sources_toml import SOURCES_FILE
from bench_resources.config.stores import open_shared_blobs
from bench_resources.datasets.cache import ReleaseCache
from bench_resources.storage.sqlite import SIDE_SUFFIXES
from bench_resources.tables.locations import SOURCES_FOLDER, WHOLE_TABLE

BACKUP = """\
Back up bench.toml, models.toml, sources.toml, dagster.site.yaml, draws.jsonl,
benchmarks/, annotation/, responses.sqlite, and files of your own. The rest is made
again, except the history of runs and imported results.
(With a database in [storage], responses are not in a file: docs/cluster.md.)
While nothing runs, use cp; otherwise, also for files in annotation/,
  sqlite3 {home}/responses.sqlite ".backup 'COPY.sqlite'"
To move the home: stop all runs, move it, set BENCH_HOME to the new path, and correct
relative paths in bench.toml."""

_MODEL_TABLES = frozenset({"predictions", "scores", "metrics"})  # tables of each model
_DESCRIPTIONS = {
    "images": ("images, by SHA-256", "{rm}: drawn or read again when needed"),
    "mini": ("source files of the mini editions", "{rm}: drawn again when needed"),
    "partial": ("numbers of --limit", "{rm}: made again from cached responses"),
    "annotation": ("annotation units and answers", ""),
    "responses.sqlite": ("response cache", "bench home remove MODEL --responses"),
    "dagster": (
        "Dagster's runs, for run_history_days of [storage]",
        "{rm}, while nothing runs: tables are made again, from responses",
    ),
    "looks.json": ("image hashes, to find near-duplicates", "{rm}: computed again"),
    "servers": ("logs of managed servers", "{rm}: only history"),
    "cache": ("cached objects of the shared store", "{rm}: downloaded again when needed"),
    "code.json": ("versions of the code of dataset builds", "{rm}: computed again"),
    "digests.json": ("digests of files, by size and time", "{rm}: computed again"),
    "leases.sqlite": ("leases of the sensors", "{rm}, while nothing runs: made again"),
    "locks": ("locks of running processes", ""),
    "report": ("HTML report", "{rm}: built again by bench report"),
    "export": ("exported leaderboard", "{rm}: written again by bench leaderboard"),
    "bench.toml": ("configuration", ""),
    BENCHMARKS_FOLDER: ("sections of known benchmarks", "{rm}: copied again when named"),
    IMPORTS_FILE: ("tasks of imported results", ""),
    MODELS_FILE: ("ad-hoc models of commands", "bench home remove MODEL"),
    SOURCES_FILE: ("sources of the last evaluations", "{rm}: --source names them again"),
    "judges.jsonl": ("null tests of readers", "{rm}: tested again with the next evaluation"),
    "draws.jsonl": ("units of metrics drawn for people", ""),
    "processors.json": ("image settings of processors", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskUsage:
    """Size of one part of a home."""

    what: str
    about: str
    n_files: int
    megabytes: float
    path: str
    goes: str  # command that frees it, and what rebuilds it; "": keep it


def disk_usage(home: Path) -> list[DiskUsage]:
    """Measure the parts of a home: releases, tables by suite and model, other files by kind.

    Sorted by size, largest first. Files of a model count only in the model's row.
    """
    paths = home.iterdir() if home.is_dir() else ()
    usages = [_path_usage(path) for path in paths if not _is_listed_elsewhere(path)]
    return _largest_first([*_release_usages(home), *_table_usages(home / "tables"), *usages])


def _largest_first(usages: Iterable[DiskUsage]) -> list[DiskUsage]:
    return sorted(usages, key=lambda usage: (-usage.megabytes, usage.what))


def _is_listed_elsewhere(path: Path) -> bool:
    """Whether the files of a path belong to other rows, as SQLite's side files do."""
    return path.name in ("sources", "tables") or path.name.endswith(SIDE_SUFFIXES)


def _release_usages(home: Path) -> Iterator[DiskUsage]:
    for suite, release, folder in ReleaseCache(home).all():
        yield DiskUsage(
            what=f"sources/{suite}",
            about=release.address + (f" at {release.commit}" if release.commit else ""),
            n_files=len(release.files),
            megabytes=_megabytes(release.n_bytes),
            path=str(folder),
            goes=f"rm -r {quote(str(folder.parent))}: bench home fetch {suite} downloads it again",
        )


def _table_usages(folder: Path) -> Iterator[DiskUsage]:
    """Measure the tables: those of models by model, the others by suite."""
    suites: dict[str, list[Path]] = defaultdict(list)
    models: dict[str, list[Path]] = defaultdict(list)
    files = list(folder.rglob("*.parquet"))
    model_stems = {file.stem for file in files if file.parent.name in _MODEL_TABLES}
    model_stems.discard(WHOLE_TABLE)
    for file in files:
        if file.stem in model_stems:
            models[unquote(file.stem)].append(file)
        else:
            parts = file.relative_to(folder).parts
            depth = 3 if parts[0] == SOURCES_FOLDER else 1  # tables of a source: .of/ID/SUITE
            suites["/".join(parts[:depth])].append(file)
    for suite, paths in suites.items():
        removal = (
            f"rm -r {quote(str(folder / suite))}, with the tables of its models: made by"
            f" {_making_command(suite)}"
        )
        yield _measure(f"tables/{suite}", "questions and more", paths, folder / suite, removal)
    for model, paths in models.items():
        about, removal = "responses, scores and metrics", f"bench home remove {quote(model)}"
        yield _measure(f"tables of {model}", about, paths, folder, removal)


def _making_command(suite_folder: str) -> str:
    if suite_folder in ("leaderboard", "published"):
        return "bench leaderboard"
    source, _, suite = suite_folder.rpartition("/")
    return f"bench evaluate {suite}" + (", with their source" if source else "")


def _path_usage(path: Path) -> DiskUsage:
    """Measure a file or folder, a database together with its side files."""
    description, removal = _DESCRIPTIONS.get(path.name, ("", ""))
    files = [path] if path.is_file() else list(filter(Path.is_file, path.rglob("*")))
    if path.suffix == ".sqlite":
        side_files = (Path(f"{path}{suffix}") for suffix in SIDE_SUFFIXES)
        files += filter(Path.is_file, side_files)
    command = "rm -r" if path.is_dir() else "rm"
    removal = removal.format(rm=f"{command} {quote(str(path))}")
    return _measure(path.name, description, files, path, removal)


def _measure(
    label: str, description: str, files: Iterable[Path], path: Path, removal: str
) -> DiskUsage:
    sizes = [file.stat().st_size for file in files]
    return DiskUsage(
        what=label,
        about=description,
        n_files=len(sizes),
        megabytes=_megabytes(sum(sizes)),
        path=str(path),
        goes=removal,
    )


def _megabytes(n_bytes: int) -> float:
    return round(n_bytes / 1e6, 1)


_SHARED_PARTS = {
    "tables": ("tables of all homes", "bench home remove MODEL: a model's tables, for all homes"),
    "images": ("images, by SHA-256", ""),
    "export": ("exported leaderboard", ""),
}


def shared_disk_usage(settings: Settings) -> list[DiskUsage]:
    """Measure the parts of the configured object store, largest first; empty without one.

    Raises:
        HomeError: If the store cannot be reached.
    """
    return _largest_first(_shared_usages(settings) if settings.storage.objects else ())


def _shared_usages(settings: Settings) -> Iterator[DiskUsage]:
    for part, (description, removal) in _SHARED_PARTS.items():
        blobs = open_shared_blobs(settings.home, part, **settings.storage.shared)
        sizes = [blob.size for blob in blobs.list()]
        if sizes:
            yield DiskUsage(
                what=f"shared {part}",
                about=description,
                n_files=len(sizes),
                megabytes=_megabytes(sum(sizes)),
                path=blobs.place,
                goes=removal,
            )
