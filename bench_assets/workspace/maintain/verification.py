"""Verification of everything in a home against its checksums."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shlex import quote

from bench_assets.core.schema.errors import BenchError, SourceError
from bench_assets.workspace.maintain.blob_verification import verify_images, verify_tables
from bench_assets.workspace.maintain.verification_findings import (
    State,
    VerificationFinding,
    is_access_denied,
    state_findings,
    unreadable_finding,
    unreadable_folders,
)
from bench_assets.workspace.materialization.workbench import Workbench
from resources.config.bench_toml import Settings
from resources.config.stores import (
    existing_response_store,
    open_response_store,
    open_vector_cache,
    vectors_file,
)
from resources.datasets.cache import ReleaseCache
from resources.images.locations import KIND
from resources.response_cache.maintenance import find_invalid_responses
from resources.response_cache.sqlite_file import (
    count_states,
    iterate_rows,
    require_known_version,
    states_of,
)
from resources.storage.sqlite import integrity_errors, open_read_only
from resources.storage.vectors import is_intact_vector

_VECTORS_ADVICE = (
    "a damaged one is computed anew when it is needed, one without a digest taken as it is"
)


def verify(bench: Workbench) -> list[VerificationFinding]:
    """Read everything in a home; what is wrong is named, and nothing is changed but notes.

    The notes that say what need not be made again are dropped where something is wrong, so that
    the commands that are named do their work.
    """
    home = bench.settings.home
    parts: list[Callable[[], Iterator[VerificationFinding]]] = [
        lambda: verify_tables(bench),
        lambda: verify_images(bench),
        lambda: _responses(bench.settings.responses_file),
        lambda: _shared_responses(bench.settings),
        lambda: _vectors(vectors_file(bench.settings)),
        lambda: _shared_vectors(bench.settings),
        lambda: _releases(home),
        lambda: _records(home / "dagster"),
        lambda: unreadable_folders(home / one for one in ("dagster", "sources", KIND)),
    ]
    with ThreadPoolExecutor(len(parts)) as threads:  # one reads, one hashes, one decodes
        found = threads.map(lambda part: list(part()), parts)
        return [finding for one in found for finding in one]


def drop_invalid_responses(settings: Settings) -> list[VerificationFinding]:
    """Forget what an older version took for a response and that of today would not.

    It is asked again.

    Raises:
        HomeError: If the store cannot be read, or not be written.
    """
    store = existing_response_store(settings)
    if store is None:
        return []
    found = list(find_invalid_responses(store))
    store.drop([one.key for one in found])
    return [
        VerificationFinding(
            what=f"responses of {model}",
            state="dropped",
            n=n,
            why=why,
            command="bench evaluate, of the suites they belong to: it asks them again",
        )
        for (model, why), n in sorted(Counter((one.model, one.why) for one in found).items())
    ]


def _responses(file: Path) -> Iterator[VerificationFinding]:
    if not file.exists():
        return
    if closed := _refused_of(file):
        yield unreadable_finding(file.name, closed)
        return
    states: Counter[str] = Counter()
    try:
        require_known_version(file)
        found = integrity_errors(file)
        with open_read_only(file) as db:
            states = count_states(db)
    except (BenchError, sqlite3.Error) as why:
        found = [str(why).removeprefix(f"{file}: ")]
    for complaint in dict.fromkeys(found):
        yield VerificationFinding(
            what=file.name,
            state="damaged",
            n=1,
            why=f"{file}: {complaint}; everything is asked again without the file",
            command=f"sqlite3 {quote(str(file))} .recover | sqlite3 NEW",
        )
    yield from _of_states("responses", states, str(file))


def _shared_responses(settings: Settings) -> Iterator[VerificationFinding]:
    if not settings.storage.variable:
        return
    try:
        store = open_response_store(settings)
        states = states_of(store.rows(), store.prompts())
    except BenchError as why:
        yield VerificationFinding(what="shared responses", state="missing", n=1, why=str(why))
        return
    yield from _of_states("shared responses", states, store.place)


def _of_states(responses: str, states: Counter[str], place: str) -> Iterator[VerificationFinding]:
    again = "bench evaluate, of the suites and models that they belong to: it asks them again"
    prompts = responses.replace("responses", "prompts")
    for what, n in ((responses, states["damaged"]), (prompts, states["damaged prompts"])):
        if n:
            yield VerificationFinding(what=what, state="damaged", n=n, why=place, command=again)
    older = "written before responses had digests; they get one when the file is next written"
    counted: dict[State, int] = {"whole": states["whole"], "not yet verifiable": states["older"]}
    yield from state_findings(responses, counted, older)


def _vectors(file: Path) -> Iterator[VerificationFinding]:
    if not file.exists():
        return
    if closed := _refused_of(file):
        yield unreadable_finding(file.name, closed)
        return
    counted: Counter[State] = Counter()
    found = integrity_errors(file)
    try:
        with open_read_only(file) as db:
            for row in iterate_rows(db.execute("SELECT * FROM vectors")) if not found else ():
                named = [row.get(name) for name in ("encoder", "key", "vector", "digest")]
                counted[_state_of_vector(*named)] += 1
    except sqlite3.Error as why:
        found = [str(why)]
    for said in dict.fromkeys(found):
        command = f"rm {quote(str(file))}"
        yield VerificationFinding(
            what=file.name, state="damaged", n=1, why=f"{file}: {said}", command=command
        )
    yield from state_findings("vectors", counted, _VECTORS_ADVICE)


def _shared_vectors(settings: Settings) -> Iterator[VerificationFinding]:
    if not settings.storage.variable:
        return
    try:
        counted = Counter(_state_of_vector(*one) for one in open_vector_cache(settings).stored())
    except BenchError as why:
        yield VerificationFinding(what="shared vectors", state="missing", n=1, why=str(why))
        return
    yield from state_findings("shared vectors", counted, _VECTORS_ADVICE)


def _state_of_vector(*stored: object) -> State:
    if not is_intact_vector(*stored):
        return "damaged"
    return "whole" if stored[-1] else "not yet verifiable"


def _releases(home: Path) -> Iterator[VerificationFinding]:
    cache = ReleaseCache(home)
    try:
        releases = cache.all()
    except SourceError as why:
        yield VerificationFinding(
            what="sources", state="damaged", n=1, why=str(why), command="bench home fetch"
        )
        return
    except PermissionError as why:
        yield unreadable_finding("sources", Path(why.filename))
        return
    for suite, _, folder in releases:
        wrong = cache.damage(folder)
        for said in wrong:
            if is_access_denied(file := folder / said.rpartition(": ")[0]):
                yield unreadable_finding(f"sources/{suite}", file)
                continue
            command = f"rm -r {quote(str(folder.parent))} && bench home fetch {quote(suite)}"
            what = f"sources/{suite}"
            yield VerificationFinding(
                what=what, state="damaged", n=1, why=f"{folder}: {said}", command=command
            )
        if not wrong:
            yield VerificationFinding(what=f"sources/{suite}", state="whole", n=1)


def _records(folder: Path) -> Iterator[VerificationFinding]:
    n_whole = 0
    for file in sorted(folder.rglob("*.db")):
        if closed := _refused_of(file):
            yield unreadable_finding("dagster", closed)
            continue
        for why in (found := integrity_errors(file)):
            command = f"mv {quote(str(file))} {quote(f'{file}.damaged')}"
            about = f"{file}: {why}; only the history of runs is in it"
            yield VerificationFinding(
                what="dagster", state="damaged", n=1, why=about, command=command
            )
        n_whole += not found
    yield from state_findings("dagster", {"whole": n_whole}, "")


def _refused_of(file: Path) -> Path | None:
    """What may not be read of a database: itself, or what SQLite keeps beside it."""
    parts = (file.with_name(f"{file.name}{end}") for end in ("", "-wal", "-shm"))
    return next(filter(is_access_denied, parts), None)
