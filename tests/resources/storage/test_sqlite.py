"""SQLite files that cannot be written beside are read all the same."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import HomeError
from bench_resources.storage.sqlite import (
    describe_sqlite_errors,
    hold_open,
    integrity_errors,
    open_read_only,
)


@pytest.fixture(params=["a b", "a#b?%20"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / request.param).mkdir()
    file = tmp_path / request.param / "some.sqlite"
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE words (word TEXT)")
    return file


def words(file: Path) -> list[str]:
    with open_read_only(file) as db:
        return [str(row[0]) for row in db.execute("SELECT word FROM words")]


def test_what_is_still_in_the_log_is_read(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("INSERT INTO words VALUES ('up')")
        db.commit()
        assert words(file) == ["up"]
        # As a killed process leaves it, on a disk where nothing can be put beside it.
        left = file.parent / "left"
        left.mkdir()
        for name in (file.name, f"{file.name}-wal"):
            shutil.copyfile(file.parent / name, left / name)
        (left / f"{file.name}-shm").mkdir()
    assert words(left / file.name) == ["up"]
    assert integrity_errors(left / file.name) == []


def test_a_file_that_is_no_database_is_an_error_with_what_to_do(file: Path) -> None:
    file.write_bytes(b"PAR1" * 999)
    complaint = r"some.sqlite: damaged \(.*\); call somebody"
    with pytest.raises(HomeError, match=complaint), describe_sqlite_errors(file, "call somebody"):
        words(file)
    assert integrity_errors(file) == ["file is not a database"]


def test_a_database_that_is_held_open_keeps_its_log_between_connections(tmp_path: Path) -> None:
    from sqlalchemy import create_engine, text

    def leaves_a_log(folder: Path) -> bool:
        folder.mkdir()
        engine = create_engine(f"sqlite:///{folder / 'runs.db'}")
        for statement in ("PRAGMA journal_mode=WAL", "CREATE TABLE runs (id INTEGER)"):
            with engine.begin() as db:
                db.execute(text(statement))
            engine.dispose()
        return (folder / "runs.db-wal").exists()

    with hold_open(tmp_path / "held"):
        assert leaves_a_log(tmp_path / "held")
        assert not leaves_a_log(tmp_path / "other")
    assert not (tmp_path / "held" / "runs.db-wal").exists()
    assert not leaves_a_log(tmp_path / "later")
