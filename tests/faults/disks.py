"""What disks do to a finished home: then the same number, or an error that names the place."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from typing import TypeAlias

from bench_assets.core.schema.errors import BenchError, TableError
from bench_assets.core.schema.provenance import row_digest
from bench_assets.core.schema.rows import Score
from bench_resources.tables.parquet import TableFiles
from tests.fakes.stores import response_file
from tests.faults.finished import finished
from tests.faults.homes import GOLD
from tests.faults.table import Fault, FoundError, Trial

Damage: TypeAlias = Callable[[Path, Random], None]

PLACES: Mapping[str, str] = {
    "the scores": "tables/quiz/scores/*.parquet",
    "the metrics": "tables/quiz/metrics/*.parquet",
    "the predictions": "tables/quiz/predictions/*.parquet",
    "the questions": "tables/quiz/questions/*.parquet",
    "the table of images": "tables/quiz/images/*.parquet",
    "a stored image": "images/*/*",
    "the response store": "responses.sqlite",
    "Dagster's runs": "dagster/history/runs.db",
    "Dagster's index of events": "dagster/history/runs/index.db",
    "Dagster's events of a run": "dagster/history/runs/*-*.db",
    "Dagster's schedules": "dagster/schedules/schedules.db",
}
FORGOTTEN: Mapping[str, tuple[str, ...]] = {
    "": (),
    ", predictions deleted": ("tables/quiz/predictions",),
    ", responses deleted": ("responses.sqlite", "tables/quiz/predictions"),
    ", metrics and scores deleted": ("tables/quiz/metrics", "tables/quiz/scores"),
}
"""What is gone as well, so that what was damaged is needed."""


def _flip(n: int) -> Damage:
    def damage(file: Path, rng: Random) -> None:
        data = bytearray(file.read_bytes())
        for _ in range(n):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        file.write_bytes(data)

    return damage


def _truncate(file: Path, rng: Random) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: rng.randrange(1, len(data))])


def _empty(file: Path, _: Random) -> None:
    file.write_bytes(b"")


def _lengthen(file: Path, _: Random) -> None:
    file.write_bytes(file.read_bytes() + b"junk")


def _zero(file: Path, rng: Random) -> None:
    data = bytearray(file.read_bytes())
    start = rng.randrange(len(data))
    data[start : start + 512] = bytes(len(data[start : start + 512]))
    file.write_bytes(data)


def _become_folder(file: Path, _: Random) -> None:
    file.unlink()
    file.mkdir()


def _become_link(file: Path, _: Random) -> None:
    file.unlink()
    file.symlink_to("nowhere")


def _swap(file: Path, rng: Random) -> None:
    """Put another file of the home with the same suffix in its place, its time of change kept."""
    home = next(folder for folder in file.parents if (folder / "bench.toml").exists())
    others = sorted(
        other
        for other in home.rglob(f"*{file.suffix}")
        if other.is_file() and other != file and other.suffix == file.suffix
        and other.read_bytes() != file.read_bytes()
    )  # fmt: skip
    others = others or [home / "bench.toml"]
    state = file.stat()
    shutil.copyfile(rng.choice(others), file)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


DAMAGES: Mapping[str, tuple[Damage, bool]] = {
    "has one bit flipped": (_flip(1), True),
    "has eight bits flipped": (_flip(8), True),
    "is cut short": (_truncate, True),
    "has 512 bytes of zeros": (_zero, True),
    "is empty": (_empty, False),
    "has junk behind it": (_lengthen, False),
    "is deleted": (lambda file, _: file.unlink(), False),
    "is replaced by another file": (_swap, True),
    "is a folder": (_become_folder, False),
    "is a link to nowhere": (_become_link, False),
}  # fmt: skip
_NEEDED = {
    "a stored image": ", responses deleted",
    "the predictions": ", metrics and scores deleted",
}


def faults() -> list[Fault]:
    """Every damage to every place, and further ones where they are needed afterwards."""
    rows = [_fault(place, damage, "") for place in PLACES for damage in DAMAGES]
    rows += [_fault(place, damage, more) for place, more in _NEEDED.items() for damage in DAMAGES]
    rows += [_fault("the response store", damage, ", predictions deleted") for damage in DAMAGES]
    return [*_quick(), *rows]


def _fault(place: str, damage: str, more: str) -> Fault:
    do, drawn = DAMAGES[damage]

    def attempt(trial: Trial) -> str:
        with finished() as made:
            file = trial.rng.choice(sorted(made.home.glob(PLACES[place])))
            do(file, trial.rng)
            for pattern in FORGOTTEN[more]:
                _delete(made.home / pattern)
            return made.look(file)

    return Fault(
        group="disks",
        name=f"{place} {damage}{more}",
        made=PLACES[place],
        must="the same number and rows, or an error that names the place",
        attempt=attempt,
        short=False,
        drawn=drawn,
        longest=600.0,
    )


def _delete(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _quick() -> list[Fault]:
    return [
        Fault(
            group="disks",
            name=f"{what} with one bit flipped, thirty times",
            made="one drawn bit of its file",
            must="the rows that were written, or an error that names the file",
            attempt=attempt,
            drawn=True,
        )
        for what, attempt in (("a table", _flipped_table), ("a response store", _flipped_store))
    ]  # fmt: skip


def _flipped_table(trial: Trial) -> str:
    rows = [
        Score(
            question_id=f"quiz/{n}",
            model="m",
            condition="main",
            points=n % 2,
            answer=(GOLD[n % 6],),
        )
        for n in range(200)
    ]
    tables = TableFiles(folder=str(trial.folder))
    file = Path(tables.write(["quiz", "rows"], rows, Score))
    whole, refused = file.read_bytes(), 0
    for _ in range(30):
        file.write_bytes(whole)
        _flip(1)(file, trial.rng)
        try:
            if tables.read(["quiz", "rows"], Score) != rows:
                raise FoundError("other rows are read than were written")
            tables.digest(["quiz", "rows"])
        except TableError as error:
            refused += 1
            if file.name not in str(error):
                raise FoundError(f"the error does not name the file: {error}") from error
    return f"{refused} of 30 refused, the others read as they were written"


def _flipped_store(trial: Trial) -> str:
    file = trial.folder / "responses.sqlite"
    store = response_file(file)
    with closing(sqlite3.connect(file)) as db:
        for n in range(200):
            row = {"key": f"{n:064x}", "text": f"the response to {n}", "finish_reason": "stop"}
            columns = "INSERT INTO responses (key, text, finish_reason, digest)"
            db.execute(f"{columns} VALUES (?, ?, ?, ?)", (*row.values(), row_digest(row)))
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    keys = [f"{n:064x}" for n in range(200)]
    clean, whole, refused = store.find(keys), file.read_bytes(), 0
    for _ in range(30):
        for beside in trial.folder.glob("responses.sqlite-*"):
            beside.unlink()
        file.write_bytes(whole)
        _flip(1)(file, trial.rng)
        try:
            found = response_file(file).find(keys)
        except BenchError as error:
            refused += 1
            if file.name not in str(error):
                raise FoundError(f"the error does not name the file: {error}") from error
            continue
        if wrong := [key for key in keys if found.get(key, clean[key]) != clean[key]]:
            raise FoundError(f"{len(wrong)} responses are read as others than were stored")
    return f"{refused} of 30 refused, the others read as they were written"
