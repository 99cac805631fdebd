import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

from bench_assets.core.schema.errors import BenchError, TableError
from bench_assets.core.schema.provenance import row_digest
from bench_assets.core.schema.rows import Score
from bench_resources.tables.parquet import TableFiles
from tests.fakes.stores import response_file
from tests.faults.finished import finished
from tests.faults.homes import GOLD
from tests.faults.table import Fault, FindingError, Trial

ApplyDamage: TypeAlias = Callable[[Path, Random], None]


class Damage(NamedTuple):
    """One way to damage a file."""

    apply: ApplyDamage
    is_random: bool


PATTERNS: Mapping[str, str] = {
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
ALSO_DELETED: Mapping[str, tuple[str, ...]] = {
    "": (),
    ", predictions deleted": ("tables/quiz/predictions",),
    ", responses deleted": ("responses.sqlite", "tables/quiz/predictions"),
    ", metrics and scores deleted": ("tables/quiz/metrics", "tables/quiz/scores"),
}
"""Files that are deleted as well, so that the damaged one is needed; by the end of the title."""


def _flip_bit(file: Path, rng: Random) -> None:
    data = bytearray(file.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    file.write_bytes(data)


def _flip_eight_bits(file: Path, rng: Random) -> None:
    for _ in range(8):
        _flip_bit(file, rng)


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
    """Overwrite a file with another one of the same suffix, and keep its modification time."""
    home = next(folder for folder in file.parents if (folder / "bench.toml").exists())
    candidates = sorted(
        candidate
        for candidate in home.rglob(f"*{file.suffix}")
        if candidate.is_file() and candidate.suffix == file.suffix
        and candidate.read_bytes() != file.read_bytes()
    )  # fmt: skip
    status = file.stat()
    shutil.copyfile(rng.choice(candidates or [home / "bench.toml"]), file)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


DAMAGES: Mapping[str, Damage] = {
    "has one bit flipped": Damage(_flip_bit, is_random=True),
    "has eight bits flipped": Damage(_flip_eight_bits, is_random=True),
    "is cut short": Damage(_truncate, is_random=True),
    "has 512 bytes of zeros": Damage(_zero, is_random=True),
    "is empty": Damage(_empty, is_random=False),
    "has junk behind it": Damage(_lengthen, is_random=False),
    "is deleted": Damage(lambda file, _: file.unlink(), is_random=False),
    "is replaced by another file": Damage(_swap, is_random=True),
    "is a folder": Damage(_become_folder, is_random=False),
    "is a link to nowhere": Damage(_become_link, is_random=False),
}
_DELETIONS = (  # file, and what has to be deleted so that an evaluation reads it
    ("a stored image", ", responses deleted"),
    ("the predictions", ", metrics and scores deleted"),
    ("the response store", ", predictions deleted"),
)


def faults() -> list[Fault]:
    """Every damage to every file, and further ones where an evaluation needs the file."""
    damaged = [*((file_name, "") for file_name in PATTERNS), *_DELETIONS]
    slow = [
        _fault(file_name, damage_name, deletion)
        for file_name, deletion in damaged
        for damage_name in DAMAGES
    ]
    return [*_quick_faults(), *slow]


def _fault(file_name: str, damage_name: str, deletion: str) -> Fault:
    """A fault that damages a file of the finished home and evaluates it again."""
    damage = DAMAGES[damage_name]

    def attempt(trial: Trial) -> str:
        with finished() as finished_home:
            file = trial.rng.choice(sorted(finished_home.folder.glob(PATTERNS[file_name])))
            damage.apply(file, trial.rng)
            for pattern in ALSO_DELETED[deletion]:
                _delete(finished_home.folder / pattern)
            return finished_home.check(file)

    return Fault(
        group="disks",
        name=f"{file_name} {damage_name}{deletion}",
        cause=PATTERNS[file_name],
        expected="the same number and rows, or an error that names the place",
        attempt=attempt,
        short=False,
        is_random=damage.is_random,
        timeout=600.0,
    )


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _quick_faults() -> list[Fault]:
    return [
        Fault(
            group="disks",
            name=f"{title} with one bit flipped, thirty times",
            cause="one drawn bit of its file",
            expected="the rows that were written, or an error that names the file",
            attempt=attempt,
            is_random=True,
        )
        for title, attempt in (
            ("a table", _flip_bits_of_table),
            ("a response store", _flip_bits_of_store),
        )
    ]


def _flip_bits_of_table(trial: Trial) -> str:
    """Read a table thirty times, each time with another bit flipped."""
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
    intact = file.read_bytes()
    n_refused = 0
    for _ in range(30):
        file.write_bytes(intact)
        _flip_bit(file, trial.rng)
        try:
            if tables.read(["quiz", "rows"], Score) != rows:
                raise FindingError("other rows are read than were written")
            tables.digest(["quiz", "rows"])
        except TableError as error:
            n_refused += 1
            _require_file_name(error, file)
    return f"{n_refused} of 30 refused, the others read as they were written"


def _flip_bits_of_store(trial: Trial) -> str:
    """Read a response store thirty times, each time with another bit flipped."""
    file = trial.folder / "responses.sqlite"
    store = response_file(file)
    keys = [f"{n:064x}" for n in range(200)]
    with closing(sqlite3.connect(file)) as db:
        for n, key in enumerate(keys):
            row = {"key": key, "text": f"the response to {n}", "finish_reason": "stop"}
            columns = "INSERT INTO responses (key, text, finish_reason, digest)"
            db.execute(f"{columns} VALUES (?, ?, ?, ?)", (*row.values(), row_digest(row)))
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    written = store.find(keys)
    intact = file.read_bytes()
    n_refused = 0
    for _ in range(30):
        for log in trial.folder.glob("responses.sqlite-*"):
            log.unlink()
        file.write_bytes(intact)
        _flip_bit(file, trial.rng)
        try:
            responses = response_file(file).find(keys)
        except BenchError as error:
            n_refused += 1
            _require_file_name(error, file)
            continue
        n_changed = sum(responses[key] != written[key] for key in responses)
        if n_changed:
            raise FindingError(f"{n_changed} responses are read as others than were stored")
    return f"{n_refused} of 30 refused, the others read as they were written"


def _require_file_name(error: BenchError, file: Path) -> None:
    if file.name not in str(error):
        raise FindingError(f"the error does not name the file: {error}") from error
