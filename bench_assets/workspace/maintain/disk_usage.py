"""Disk usage of a home and of its object store, with the command that frees each part."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from urllib.parse import unquote

from bench_resources.config.bench_toml import Settings
from bench_resources.config.environment import MODELS_FILE as GIVEN
from bench_resources.config.known_benchmarks import FOLDER
from bench_resources.config.sources_toml import SOURCES_FILE
from bench_resources.config.stores import open_home_blobs
from bench_resources.datasets.cache import ReleaseCache
from bench_resources.tables.locations import SOURCES_FOLDER

BACKUP = """\
Back up bench.toml, models.toml, sources.toml, draws.jsonl, benchmarks/,
annotation/ and responses.sqlite. The rest can be rebuilt from them and the
suites' sources.
(With a database in [storage], responses are not in a file: docs/cluster.md.)
While nothing runs, use cp; otherwise, also for files in annotation/,
  sqlite3 {home}/responses.sqlite ".backup 'COPY.sqlite'"
To move the home: stop all runs, move it, and set BENCH_HOME to the new path."""

_EVALUATION = frozenset({"predictions", "scores", "metrics"})  # tables of each model
_WHOLE = "all"  # stem of a table that is not per model, see bench_resources.tables.parquet
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
    "locks": ("locks of running processes", ""),
    "report": ("HTML report", "{rm}: built again by bench report"),
    "export": ("exported leaderboard", "{rm}: written again by bench leaderboard"),
    "bench.toml": ("configuration", ""),
    FOLDER: ("sections of known benchmarks", "{rm}: copied again when named"),
    GIVEN: ("ad-hoc models of commands", "bench home remove MODEL"),
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
    entries = [file for file in (home.iterdir() if home.is_dir() else ()) if not _is_other(file)]
    gold_entries = [*_releases(home), *_tables(home / "tables"), *map(_entry, entries)]
    return sorted(gold_entries, key=lambda one: (-one.megabytes, one.what))


def _is_other(entry: Path) -> bool:
    """Whether an entry has rows of its own, or is a side file of SQLite."""
    return entry.name in ("sources", "tables") or entry.name.endswith(("-wal", "-shm"))


def _releases(home: Path) -> Iterator[DiskUsage]:
    for suite, release, folder in ReleaseCache(home).all():
        yield DiskUsage(
            what=f"sources/{suite}",
            about=release.address + (f" at {release.commit}" if release.commit else ""),
            n_files=len(release.files),
            megabytes=_megabytes(release.n_bytes),
            path=str(folder),
            goes=f"rm -r {quote(str(folder.parent))}: bench home fetch {suite} downloads it again",
        )


def _tables(folder: Path) -> Iterator[DiskUsage]:
    """Sizes of tables: those of models by model, the others by suite."""
    suites: dict[str, list[Path]] = defaultdict(list)
    models: dict[str, list[Path]] = defaultdict(list)
    files = list(folder.rglob("*.parquet"))
    evaluated = {file.stem for file in files if file.parent.name in _EVALUATION} - {_WHOLE}
    for file in files:
        if file.stem not in evaluated:  # of all, or of a part of the questions
            parts = file.relative_to(folder).parts
            suites["/".join(parts[: 3 if parts[0] == SOURCES_FOLDER else 1])].append(file)
        else:
            models[unquote(file.stem)].append(file)
    for suite, files in suites.items():
        path = folder / suite
        command = f"bench evaluate {suite.rpartition('/')[2]}"
        if suite.startswith(f"{SOURCES_FOLDER}/"):
            command += ", with their source"
        if suite in ("leaderboard", "published"):
            command = "bench leaderboard"
        removal = f"rm -r {quote(str(path))}: made by {command}"
        yield _usage_of(f"tables/{suite}", "questions and more", files, path, removal)
    for model, files in models.items():
        about, removal = "responses, scores and metrics", f"bench home remove {quote(model)}"
        yield _usage_of(f"tables of {model}", about, files, folder, removal)


def _entry(entry: Path) -> DiskUsage:
    description, removal = _DESCRIPTIONS.get(entry.name, ("", ""))
    files = _files(entry)
    if entry.suffix == ".sqlite":
        files += [file for end in ("-wal", "-shm") if (file := Path(f"{entry}{end}")).is_file()]
    remove = f"rm {'-r ' if entry.is_dir() else ''}{quote(str(entry))}"
    return _usage_of(entry.name, description, files, entry, removal.format(rm=remove))


def _usage_of(
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


def _files(entry: Path) -> list[Path]:
    return [entry] if entry.is_file() else [file for file in entry.rglob("*") if file.is_file()]


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
    entries = list(_parts(settings)) if settings.storage.objects else []
    return sorted(entries, key=lambda one: (-one.megabytes, one.what))


def _parts(settings: Settings) -> Iterator[DiskUsage]:
    for part, (description, removal) in _SHARED_PARTS.items():
        blobs = open_home_blobs(settings, part)
        sizes = [blob.size for blob in blobs.list()]
        if sizes:
            yield DiskUsage(
                what=f"shared {part}",
                about=description,
                n_files=len(sizes),
                megabytes=round(sum(sizes) / 1e6, 1),
                path=blobs.place,
                goes=removal,
            )
