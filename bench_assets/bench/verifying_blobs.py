"""The part of ``bench verify`` that reads tables and pictures, wherever they lie."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import dagster as dg

from bench_assets.bench.findings import Finding, State, counted_states
from bench_assets.bench.workbench import Workbench
from bench_assets.bench.writers import command_for, forget_made, shown_by
from bench_assets.core.errors import HomeError, TableError
from resources.home.seals import Seal
from resources.pictures.images import damaged_pictures
from resources.pictures.opening import images_of

_THREADS = 16  # objects that are waited for at once


def tables_found(bench: Workbench) -> Iterator[Finding]:
    """Read every table, of all sources."""
    counted: dict[State, int] = {"whole": 0, "not yet verifiable": 0}
    try:
        with ThreadPoolExecutor(_THREADS if bench.settings.storage.objects else 1) as threads:
            names = [one.name for one in bench.tables.blobs.list() if one.name.endswith(".parquet")]
            for found in threads.map(lambda name: _table(bench, name), names):
                if isinstance(found, Finding):
                    yield found
                else:
                    counted["whole" if found == "whole" else "not yet verifiable"] += 1
    except HomeError as why:
        yield Finding(what="tables", state="missing", n=1, why=str(why))
        return
    older = "written before tables had digests; gets one when it is made again"
    yield from counted_states("tables", counted, older)


def _table(bench: Workbench, name: str) -> Finding | Seal:
    tables, key, model = bench.tables.holding(name)
    try:
        return tables.seal(key, model)
    except TableError as why:
        named = tables.root(key[0]) == bench.tables.root(key[0])
        again = command_for(bench, dg.AssetKey(key), model) if named else ""
        is_file = tables.blobs.folder is not None
        return Finding(
            what="/".join(key) + (f" of {model}" if model else ""),
            state="damaged",
            n=1,
            why=str(why),
            command=again or (f"rm '{tables.place(key, model)}'" if is_file else ""),
        )


def pictures_found(bench: Workbench) -> Iterator[Finding]:
    """Read every picture where it lies, and look for those that tables show."""
    place = images_of(bench.settings).place
    try:
        suites = shown_by(bench)
        stored = set(place.every())
        damaged = damaged_pictures(place, sorted(stored))
    except HomeError as why:
        yield Finding(what="pictures", state="missing", n=1, why=str(why))
        return
    missing = {name: f"no such picture in {place.name}" for name in sorted(suites.keys() - stored)}
    for name, said in (damaged | missing).items():
        suite = suites.get(name, "")
        if suite:
            forget_made(bench, suite)
        yield Finding(
            what=f"picture {name}",
            state="missing" if name in missing else "damaged",
            n=1,
            why=said if suite else f"{said}; no table shows it",
            command=f"bench questions {suite}" if suite else place.goes(name),
        )
    yield from counted_states("pictures", {"whole": len(stored) - len(damaged)}, "")
