"""What ``bench verify`` does: reads all that lies in a home, and says what is as it was written."""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import unquote

import dagster as dg

from bench_assets.bench.workbench import Workbench
from bench_assets.bench.writers import command_for, forget_made, shown_by
from bench_assets.core.errors import BenchError, SourceError, TableError
from resources.disk.sqlite_files import complaints, opened_to_read
from resources.home.vectors import is_whole
from resources.pictures.images import damaged_pictures
from resources.replies.older_gate import doubtful
from resources.replies.reply_file import count_states, require_known, rows_in, states_of
from resources.settings.bench_toml import Settings
from resources.settings.stores import remembered_replies, replies_of
from resources.sources.cache import ReleaseCache

_DIGEST = re.compile("[0-9a-f]{64}")

State: TypeAlias = Literal["whole", "not yet verifiable", "damaged", "missing", "dropped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found of one part of a home, or of one thing in it that is not whole."""

    what: str  # "tables", "pictures", ..., or the file or entry
    state: State
    n: int  # files, or rows of a database
    why: str = ""
    command: str = ""  # what brings it back; "" where there is nothing to do, or nothing that can

    @property
    def is_wrong(self) -> bool:
        """Whether something that was written cannot be read as it was."""
        return self.state in ("damaged", "missing")


def verify(bench: Workbench) -> list[Finding]:
    """Read everything in a home; what is wrong is named, and nothing is changed but notes.

    The notes that say what need not be made again are dropped where something is wrong, so that
    the commands that are named do their work.
    """
    home = bench.settings.home
    parts: list[Callable[[], Iterator[Finding]]] = [
        lambda: _tables(bench),
        lambda: _pictures(bench),
        lambda: _replies(bench.settings.replies_file),
        lambda: _shared_replies(bench.settings),
        lambda: _vectors(home / "vectors.sqlite"),
        lambda: _releases(home),
        lambda: _records(home / "dagster"),
    ]
    with ThreadPoolExecutor(len(parts)) as threads:  # one reads, one hashes, one decodes
        found = threads.map(lambda part: list(part()), parts)
        return [finding for one in found for finding in one]


def drop_doubtful_replies(settings: Settings) -> list[Finding]:
    """Forget what an older version took for a reply and that of today would not: it is asked again.

    Raises:
        HomeError: If the store cannot be read, or not be written.
    """
    store = remembered_replies(settings)
    if store is None:
        return []
    found = list(doubtful(store))
    store.drop([one.key for one in found])
    return [
        Finding(
            what=f"replies of {model}",
            state="dropped",
            n=n,
            why=why,
            command="bench evaluate, of the suites they belong to: it asks them again",
        )
        for (model, why), n in sorted(Counter((one.model, one.why) for one in found).items())
    ]


def _tables(bench: Workbench) -> Iterator[Finding]:
    counted: dict[State, int] = {"whole": 0, "not yet verifiable": 0}
    for path in sorted(Path(bench.tables.folder).rglob("*.parquet")):
        tables, key = bench.tables.holding(path)
        model = unquote(path.stem)
        try:
            seal = tables.seal(key, model)
            counted["whole" if seal == "whole" else "not yet verifiable"] += 1
        except TableError as why:
            of = "" if path == tables.path(key) else model
            named = tables.root(key[0]) == bench.tables.root(key[0])
            yield Finding(
                what="/".join(key) + (f" of {of}" if of else ""),
                state="damaged",
                n=1,
                why=str(why),
                command=(named and command_for(bench, dg.AssetKey(key), of)) or f"rm '{path}'",
            )
    older = "written before tables had digests; gets one when it is made again"
    yield from _counted("tables", counted, older)


def _pictures(bench: Workbench) -> Iterator[Finding]:
    folder = bench.settings.home / "images"
    stored = {file.name for file in folder.glob("??/*") if _DIGEST.fullmatch(file.name)}
    suites = shown_by(bench)
    damaged = damaged_pictures(str(folder), sorted(stored))
    missing = {name: f"no such picture in {folder}" for name in sorted(suites.keys() - stored)}
    for name, why in (damaged | missing).items():
        suite = suites.get(name, "")
        if suite:
            forget_made(bench, suite)
        yield Finding(
            what=f"picture {name}",
            state="missing" if name in missing else "damaged",
            n=1,
            why=why,
            command=f"bench questions {suite}" if suite else f"rm '{folder / name[:2] / name}'",
        )
    yield from _counted("pictures", {"whole": len(stored) - len(damaged)}, "")


def _replies(file: Path) -> Iterator[Finding]:
    if not file.exists():
        return
    states: Counter[str] = Counter()
    try:
        require_known(file)
        found = complaints(file)
        with opened_to_read(file) as db:
            states = count_states(db)
    except (BenchError, sqlite3.Error) as why:
        found = [str(why).removeprefix(f"{file}: ")]
    for complaint in dict.fromkeys(found):
        yield Finding(
            what=file.name,
            state="damaged",
            n=1,
            why=f"{file}: {complaint}; everything is asked again without the file",
            command=f"sqlite3 '{file}' .recover | sqlite3 NEW",
        )
    yield from _of_states("replies", states, str(file))


def _shared_replies(settings: Settings) -> Iterator[Finding]:
    if not settings.storage.variable:
        return
    try:
        store = replies_of(settings)
        states = states_of(store.rows(), store.prompts())
    except BenchError as why:
        yield Finding(what="shared replies", state="missing", n=1, why=str(why))
        return
    yield from _of_states("shared replies", states, store.place)


def _of_states(replies: str, states: Counter[str], place: str) -> Iterator[Finding]:
    again = "bench evaluate, of the suites and models that they belong to: it asks them again"
    prompts = replies.replace("replies", "prompts")
    for what, n in ((replies, states["damaged"]), (prompts, states["damaged prompts"])):
        if n:
            yield Finding(what=what, state="damaged", n=n, why=place, command=again)
    older = "written before replies had digests; they get one when the file is next written"
    counted: dict[State, int] = {"whole": states["whole"], "not yet verifiable": states["older"]}
    yield from _counted(replies, counted, older)


def _vectors(file: Path) -> Iterator[Finding]:
    if not file.exists():
        return
    counted: dict[State, int] = {"whole": 0, "not yet verifiable": 0, "damaged": 0}
    found = complaints(file)
    try:
        with opened_to_read(file) as db:
            for row in rows_in(db.execute("SELECT * FROM vectors")) if not found else ():
                one = [row.get(name) for name in ("encoder", "key", "vector", "digest")]
                known: State = "whole" if row.get("digest") else "not yet verifiable"
                counted[known if is_whole(*one) else "damaged"] += 1
    except sqlite3.Error as why:
        found = [str(why)]
    for said in dict.fromkeys(found):
        command = f"rm '{file}'"
        yield Finding(what=file.name, state="damaged", n=1, why=f"{file}: {said}", command=command)
    about = "a damaged one is computed anew when it is needed, one without a digest taken as it is"
    yield from _counted("vectors", counted, about)


def _releases(home: Path) -> Iterator[Finding]:
    cache = ReleaseCache(home)
    try:
        releases = cache.all()
    except SourceError as why:
        yield Finding(what="sources", state="damaged", n=1, why=str(why), command="bench fetch")
        return
    for suite, _, folder in releases:
        wrong = cache.damage(folder)
        for said in wrong:
            command = f"rm -r '{folder.parent}' && bench fetch {suite}"
            what = f"sources/{suite}"
            yield Finding(what=what, state="damaged", n=1, why=f"{folder}: {said}", command=command)
        if not wrong:
            yield Finding(what=f"sources/{suite}", state="whole", n=1)


def _records(folder: Path) -> Iterator[Finding]:
    n_whole = 0
    for file in sorted(folder.rglob("*.db")):
        for why in (found := complaints(file)):
            command = f"mv '{file}' '{file}.damaged'"
            about = f"{file}: {why}; only the history of runs is in it"
            yield Finding(what="dagster", state="damaged", n=1, why=about, command=command)
        n_whole += not found
    yield from _counted("dagster", {"whole": n_whole}, "")


def _counted(what: str, counted: dict[State, int], why: str) -> Iterator[Finding]:
    for state, n in counted.items():
        if n:
            yield Finding(what=what, state=state, n=n, why="" if state == "whole" else why)
