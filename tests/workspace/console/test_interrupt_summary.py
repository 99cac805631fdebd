"""What a command that was ended says of what it kept."""

import os
import sqlite3

from bench_assets.workspace.console.interrupt_summary import interrupt_summary
from tests.fakes.stores import response_file

NOON = 1_790_000_000.0  # s since the epoch
AGAIN = "bench evaluate codis --model 'my model'"


def table(home, name, written):
    file = home / "tables" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    os.utime(file, (written, written))


def test_what_came_since_is_counted_with_the_command_to_go_on(tmp_path):
    table(tmp_path, "codis/scores/m.parquet", NOON + 1)
    table(tmp_path, "codis/scores/n.parquet", NOON - 1)
    store = tmp_path / "responses.sqlite"
    response_file(store)
    with sqlite3.connect(store) as db:
        for key, seconds in (("a", -1), ("b", 0), ("c", 60)):
            db.execute(
                "INSERT INTO responses (key, asked_at) VALUES (?, datetime(?, 'unixepoch'))",
                (key, NOON + seconds),
            )
    assert interrupt_summary(tmp_path, NOON, AGAIN) == (
        "\nstored so far: 2 responses, 1 tables."
        " To continue: bench evaluate codis --model 'my model'"
    )


def test_there_is_no_summary_where_nothing_came_or_nothing_can_be_read(tmp_path):
    assert interrupt_summary(tmp_path / "none", NOON, AGAIN) == ""
    (tmp_path / "responses.sqlite").write_bytes(b"no database" * 1000)
    assert interrupt_summary(tmp_path, NOON, AGAIN) == ""
