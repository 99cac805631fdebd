import shlex
import shutil
import sqlite3
from contextlib import closing
from dataclasses import make_dataclass
from pathlib import Path

import pytest

from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.tables.parquet import TableFiles
from tests.fakes.commands import bench, lines
from tests.fakes.stores import response_file
from tests.fakes.unprivileged import unprivileged

TOML = Path(__file__).with_name("verified.toml").read_text(encoding="utf-8")
QUESTIONS = "\n".join(
    f'{{"id": "{n}", "question": "Which?", "options": ["red", "blue"], "answer": "A"}}'
    for n in range(4)
)
TABLES = ("predictions", "scores", "metrics")


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    home = tmp_path_factory.mktemp("quiz") / "home"
    home.mkdir()
    (home / "bench.toml").write_text(TOML)
    (home / "quiz.jsonl").write_text(QUESTIONS)
    with Workbench(load_settings(home), ["quiz"]) as workbench:
        workbench.refresh_questions("quiz")
        for model in ("a", "b"):
            workbench.evaluate(["quiz"], model)
    response_file(home / "responses.sqlite")
    return home


@pytest.fixture
def home(evaluated, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return shutil.copytree(evaluated, tmp_path / "home")


def problems(*, fails=True):
    """What ``bench home verify`` reports that is not whole, by name."""
    rows = lines(bench("home", "verify", "--json", fails=fails))
    return {row["what"]: row for row in rows if row["state"] != "whole"}


def commands_for(state):
    """The commands that mend what is in a state, by name."""
    return {name: row["command"] for name, row in problems().items() if row["state"] == state}


def swap_models(home, table):
    """Exchange the tables of the two models."""
    a, b = (home / f"tables/quiz/{table}/{model}.parquet" for model in "ab")
    a.rename(home / "aside")
    b.rename(a)
    (home / "aside").rename(b)


@pytest.mark.parametrize("table", TABLES)
def test_swapped_tables_are_damaged(home, table):
    swap_models(home, table)
    rows = problems()
    assert rows.keys() == {f"quiz/{table} of a", f"quiz/{table} of b"}
    assert {row["state"] for row in rows.values()} == {"damaged"}
    assert "expected the table quiz/" in rows[f"quiz/{table} of a"]["why"]


def test_rows_of_another_model_are_not_shown(home):
    swap_models(home, "scores")
    result = bench("tables", "show", "quiz/scores", "--model", "a", fails=True)
    assert result.stdout == ""
    assert "got quiz/scores/b.parquet" in result.stderr


def test_commands_of_verify_mend_swapped_tables(home):
    swap_models(home, "scores")
    for command in commands_for("damaged").values():
        bench(*shlex.split(command)[1:])
    assert problems(fails=False) == {}


def test_what_another_version_wrote_is_outdated_and_a_command_updates_it(home):
    tables = TableFiles(folder=str(home / "tables"))
    row = make_dataclass("Row", [("question_id", str), ("mark", float)], frozen=True)
    tables.write(["quiz", "scores"], [row("0", 1.0)], row, "a")
    with closing(sqlite3.connect(home / "responses.sqlite")) as db:
        db.execute("UPDATE bench_revisions SET version_num = 'responses_0001'")
        db.execute("ALTER TABLE responses DROP COLUMN served")
        db.commit()
    outdated = commands_for("outdated")
    assert outdated == {
        "quiz/scores of a": "bench evaluate quiz --model a",
        "responses.sqlite": "bench home migrate-schema",
    }
    for command in reversed(outdated.values()):  # an evaluation needs the present schema
        bench(*shlex.split(command)[1:])
    assert problems(fails=False) == {}


@pytest.mark.parametrize(
    "name",
    [
        "tables/quiz/scores/a.parquet",
        "responses.sqlite",
        "dagster/schedules/schedules.db",
        "dagster/schedules",
    ],
)
def test_an_unreadable_file_or_folder_is_not_called_damaged(home, name):
    (home / name).chmod(0)
    with unprivileged():
        rows = problems().values()
    (home / name).chmod(0o755)
    assert {row["state"] for row in rows} == {"unreadable"}
    assert all("cannot be read: permission denied" in row["why"] for row in rows)
    assert {row["command"] for row in rows} == {f"chmod u+rX {home / name}"}
