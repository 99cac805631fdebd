"""Verification of everything in a home against its checksums."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from bench_assets.core.schema.errors import BenchError, SourceError, StoreVersionError
from bench_assets.workspace.maintain.blob_verification import verify_images, verify_tables
from bench_assets.workspace.maintain.verification_findings import (
    VerificationFinding,
    unreadable_findings,
    whole_finding,
)
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import Settings
from bench_resources.config.stores import open_response_file, open_response_store
from bench_resources.datasets.cache import ReleaseCache
from bench_resources.images.store import open_image_store
from bench_resources.storage.sqlite import SIDE_SUFFIXES, integrity_errors

if TYPE_CHECKING:
    from bench_resources.response_cache.store import ResponseStore


def verify(bench: Workbench) -> list[VerificationFinding]:
    """Read everything in a home, and report damage; if files are not readable, only those.

    Tables with missing or damaged images are marked as stale, so that evaluations rebuild them.
    """
    home = bench.settings.home
    if unreadable := list(unreadable_findings(_read_paths(bench))):
        return unreadable
    checks: list[Callable[[], Iterator[VerificationFinding]]] = [
        lambda: verify_tables(bench),
        lambda: verify_images(bench),
        lambda: _response_findings(bench.settings),
        lambda: _shared_response_findings(bench.settings),
        lambda: _release_findings(home),
        lambda: _dagster_findings(home / "dagster"),
    ]
    with ThreadPoolExecutor(len(checks)) as threads:  # overlap reading, hashing and decoding
        reports = threads.map(lambda check: list(check()), checks)
        return [finding for report in reports for finding in report]


def _read_paths(bench: Workbench) -> Iterator[Path]:
    """All folders and files that are read, with SQLite's side files."""
    settings, tables_folder = bench.settings, bench.tables.blobs.folder
    yield settings.home / "dagster"
    yield settings.home / "sources"
    if tables_folder:
        yield tables_folder
    yield Path(open_image_store(settings).folder)
    file = settings.responses_file
    yield from (file.with_name(f"{file.name}{suffix}") for suffix in ("", *SIDE_SUFFIXES))


def _response_findings(settings: Settings) -> Iterator[VerificationFinding]:
    """Verify the pages of the response cache, then its rows."""
    file = settings.responses_file
    if not file.exists():
        return
    errors = integrity_errors(file)
    try:
        yield from _store_findings("responses", open_response_file(settings))
    except StoreVersionError as error:
        command = "bench home migrate-schema"
        yield VerificationFinding(what=file.name, state="outdated", why=str(error), command=command)
    except BenchError as error:
        errors.append(str(error).removeprefix(f"{file}: "))
    for error_text in dict.fromkeys(errors):
        reason = f"{file}: {error_text}"
        command = f"sqlite3 {quote(str(file))} .recover | sqlite3 NEW"
        yield VerificationFinding(what=file.name, state="damaged", why=reason, command=command)


def _shared_response_findings(settings: Settings) -> Iterator[VerificationFinding]:
    if not settings.storage.variable:
        return
    try:
        yield from _store_findings("shared responses", open_response_store(settings))
    except BenchError as error:
        yield VerificationFinding(what="shared database", state="missing", why=str(error))


def _store_findings(label: str, store: "ResponseStore") -> Iterator[VerificationFinding]:
    from bench_resources.response_cache.rows import count_states

    counts = count_states(store.rows(), store.prompts())
    command = "bench evaluate their suites and models: the requests are sent again"
    prompts = label.replace("responses", "prompts")
    for rows, n in ((label, counts["damaged"]), (prompts, counts["damaged prompts"])):
        if n:
            yield VerificationFinding(
                what=rows, state="damaged", n=n, why=store.place, command=command
            )
    yield from whole_finding(label, counts["whole"])


def _release_findings(home: Path) -> Iterator[VerificationFinding]:
    """Verify the files of downloaded releases; yields a finding for each intact release, too."""
    cache = ReleaseCache(home)
    try:
        downloads = cache.all()
    except SourceError as error:
        yield VerificationFinding(
            what="sources", state="damaged", why=str(error), command="bench home fetch"
        )
        return
    for suite, _, folder in downloads:
        label, problems = f"sources/{suite}", cache.find_damage(folder)
        for reason in problems:
            command = f"rm -r {quote(str(folder.parent))} && bench home fetch {quote(suite)}"
            yield VerificationFinding(
                what=label, state="damaged", why=f"{folder}: {reason}", command=command
            )
        if not problems:
            yield VerificationFinding(what=label, state="whole")


def _dagster_findings(folder: Path) -> Iterator[VerificationFinding]:
    n_whole = 0
    for file in sorted(folder.rglob("*.db")):
        problems = integrity_errors(file)
        for problem in problems:
            command = f"mv {quote(str(file))} {quote(f'{file}.damaged')}"
            reason = f"{file}: {problem}; contains only the history of runs"
            yield VerificationFinding(what="dagster", state="damaged", why=reason, command=command)
        if not problems:
            n_whole += 1
    yield from whole_finding("dagster", n_whole)
