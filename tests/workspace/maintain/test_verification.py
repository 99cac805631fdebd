"""`bench home verify` and tables that lie in another's place, or may not be read."""

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
STEPS = ("predictions", "scores", "metrics")


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    home = tmp_path_factory.mktemp("quiz") / "home"
    home.mkdir()
    (home / "bench.toml").write_text(TOML)
    (home / "quiz.jsonl").write_text(QUESTIONS)
    with Workbench(load_settings(home), ["quiz"]) as opened:
        opened.refresh_questions("quiz")
        for model in ("a", "b"):
            opened.evaluate(["quiz"], model)
    response_file(home / "responses.sqlite")
    return home


@pytest.fixture
def home(evaluated, tmp_path, monkeypatch):
    return copied(evaluated, tmp_path / "home", monkeypatch)


def copied(evaluated, home, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(home))
    return shutil.copytree(evaluated, home)


def found(*, fails=True):
    rows = lines(bench("home", "verify", "--json", fails=fails))
    return {row["what"]: row for row in rows if row["state"] != "whole"}


def commands(state):
    return {what: one["command"] for what, one in found().items() if one["state"] == state}


def swap(home, table):
    a, b = (home / f"tables/quiz/{table}/{model}.parquet" for model in "ab")
    a.rename(home / "aside")
    b.rename(a)
    (home / "aside").rename(b)


@pytest.mark.parametrize("table", STEPS)
def test_swapped_tables_are_found(home, table):
    swap(home, table)
    wrong = found()
    assert wrong.keys() == {f"quiz/{table} of a", f"quiz/{table} of b"}
    assert {one["state"] for one in wrong.values()} == {"damaged"}
    assert "expected the table quiz/" in wrong[f"quiz/{table} of a"]["why"]


def test_rows_of_another_model_are_not_shown_and_are_made_again(home):
    swap(home, "scores")
    shown = bench("tables", "show", "quiz/scores", "--model", "a", fails=True)
    assert "got quiz/scores/b.parquet" in shown.stderr
    for command in commands("damaged").values():
        bench(*shlex.split(command)[1:])
    assert found(fails=False) == {}


def test_what_another_version_wrote_is_outdated_and_a_command_brings_it_forward(home):
    tables = TableFiles(folder=str(home / "tables"))
    row = make_dataclass("Row", [("question_id", str), ("mark", float)], frozen=True)
    tables.write(["quiz", "scores"], [row("0", 1.0)], row, "a")
    with closing(sqlite3.connect(home / "responses.sqlite")) as db:
        db.execute("UPDATE bench_revisions SET version_num = 'responses_0001'")
        db.execute("ALTER TABLE responses DROP COLUMN served")
        db.commit()
    outdated = commands("outdated")
    assert outdated == {
        "quiz/scores of a": "bench evaluate quiz --model a",
        "responses.sqlite": "bench home migrate-schema",
    }
    for command in reversed(outdated.values()):
        bench(*shlex.split(command)[1:])
    assert found(fails=False) == {}


@pytest.mark.parametrize(
    "name",
    [
        "tables/quiz/scores/a.parquet",
        "responses.sqlite",
        "dagster/schedules/schedules.db",
        "dagster/schedules",
    ],
)
def test_what_may_not_be_read_is_not_called_damaged(home, name):
    (home / name).chmod(0)
    with unprivileged():
        wrong = found()
    (home / name).chmod(0o755)
    assert {one["state"] for one in wrong.values()} == {"unreadable"}
    assert all("cannot be read: permission denied" in one["why"] for one in wrong.values())
    assert {one["command"] for one in wrong.values()} == {f"chmod u+rX {home / name}"}
