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


def read_words(file: Path) -> list[str]:
    with open_read_only(file) as db:
        return [str(word) for (word,) in db.execute("SELECT word FROM words")]


def test_rows_in_the_write_ahead_log_are_read(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("INSERT INTO words VALUES ('up')")
        db.commit()
        assert read_words(file) == ["up"]
        # A copy as a killed process leaves it, in a folder where no -shm file can be written.
        copy = file.parent / "copy"
        copy.mkdir()
        for name in (file.name, f"{file.name}-wal"):
            shutil.copyfile(file.parent / name, copy / name)
        (copy / f"{file.name}-shm").mkdir()
    assert read_words(copy / file.name) == ["up"]
    assert integrity_errors(copy / file.name) == []


def test_a_file_that_is_no_database_is_damaged(file: Path) -> None:
    file.write_bytes(b"PAR1" * 999)
    message = r"some.sqlite: damaged \(.*\); restore a backup"
    with pytest.raises(HomeError, match=message), describe_sqlite_errors(file, "restore a backup"):
        read_words(file)
    assert integrity_errors(file) == ["file is not a database"]


def test_a_database_that_is_held_open_keeps_its_log_between_connections(tmp_path: Path) -> None:
    from sqlalchemy import create_engine, text

    def leaves_log(folder: Path) -> bool:
        folder.mkdir()
        engine = create_engine(f"sqlite:///{folder / 'runs.db'}")
        for statement in ("PRAGMA journal_mode=WAL", "CREATE TABLE runs (id INTEGER)"):
            with engine.begin() as db:
                db.execute(text(statement))
            engine.dispose()
        return (folder / "runs.db-wal").exists()

    with hold_open(tmp_path / "held_open"):
        assert leaves_log(tmp_path / "held_open")
        assert not leaves_log(tmp_path / "closed")
    assert not (tmp_path / "held_open" / "runs.db-wal").exists()
    assert not leaves_log(tmp_path / "later")
