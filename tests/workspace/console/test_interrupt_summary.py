import os
import sqlite3

from bench_assets.workspace.console.interrupt_summary import interrupt_summary
from tests.fakes.stores import response_file

STARTED_AT = 1_790_000_000.0  # s since the epoch
COMMAND = "bench evaluate codis --model 'my model'"


def write_table(home, name, written_at):
    file = home / "tables" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    os.utime(file, (written_at, written_at))


def test_what_was_stored_since_the_start_is_counted_with_the_command_to_continue(tmp_path):
    write_table(tmp_path, "codis/scores/m.parquet", STARTED_AT + 1)
    write_table(tmp_path, "codis/scores/n.parquet", STARTED_AT - 1)
    store = tmp_path / "responses.sqlite"
    response_file(store)
    with sqlite3.connect(store) as db:
        db.executemany(
            "INSERT INTO responses (key, asked_at) VALUES (?, datetime(?, 'unixepoch'))",
            [("a", STARTED_AT - 1), ("b", STARTED_AT), ("c", STARTED_AT + 60)],
        )
    assert interrupt_summary(tmp_path, STARTED_AT, COMMAND) == (
        "\nstored so far: 2 responses, 1 tables."
        " To continue: bench evaluate codis --model 'my model'"
    )


def test_there_is_no_summary_of_a_home_without_files(tmp_path):
    assert interrupt_summary(tmp_path / "none", STARTED_AT, COMMAND) == ""


def test_there_is_no_summary_of_a_damaged_store(tmp_path):
    (tmp_path / "responses.sqlite").write_bytes(b"no database" * 1000)
    assert interrupt_summary(tmp_path, STARTED_AT, COMMAND) == ""
