"""`bench home verify`: what is whole, what is not, and a command that brings it back."""

import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bench_assets.workspace.maintain.verification_findings import unreadable_findings
from tests.fakes.commands import bench, lines
from tests.fakes.stores import response_file
from tests.fakes.unprivileged import unprivileged


@pytest.fixture
def home(evaluated, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    home = shutil.copytree(evaluated / "home", tmp_path / "home")
    response_file(home / "responses.sqlite")
    return home


def found(*, wrong):
    return [
        (row["what"], row["state"], row["command"])
        for row in lines(bench("home", "verify", "--json", fails=bool(wrong)))
        if (row["state"] in ("damaged", "missing", "unreadable")) == wrong
    ]


def tables(home):
    """The folder of CODIS' tables, of the source that bench.toml names."""
    (place,) = home.glob("tables/.of/codis-*")
    return place / "codis"


def flip(file, place=40):
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)


@pytest.mark.long
@pytest.mark.parametrize(
    "spoil_image", [flip, Path.unlink], ids=["a damaged image", "an image that is gone"]
)
def test_what_is_wrong_is_named_and_the_commands_bring_it_back(home, spoil_image):
    image = min((home / "images").glob("*/*"))
    spoil_image(image)
    flip(tables(home) / "scores/random.parquet")
    flip(tables(home) / "questions/all.parquet")
    commands = {
        "codis/scores of random": "bench evaluate codis --model random",
        "codis/questions": "bench tables questions codis",
    }
    wrong = {what: command for what, _, command in found(wrong=True)}
    assert commands.items() <= wrong.items()
    assert any(image.name in what for what in wrong)
    for command in commands.values():
        bench(*shlex.split(command)[1:])
    bench("home", "verify")


def test_other_damage_is_named_with_something_to_do(home):
    with closing(sqlite3.connect(home / "responses.sqlite")) as db, db:
        db.execute("INSERT INTO responses (key, text, digest) VALUES ('k', 'yes', 'other')")
    flip(home / "dagster/schedules/schedules.db", 3)
    (tables(home) / "old").mkdir()
    (tables(home) / "old/all.parquet").write_bytes(b"PAR1")
    commands = {what: command for what, _, command in found(wrong=True)}
    assert commands.keys() == {"responses", "dagster", "codis/old"}
    assert "bench evaluate" in commands.pop("responses")
    assert all(str(home) in command for command in commands.values())


def test_a_folder_that_may_not_be_read_is_named_once(home):
    records = home / "dagster"
    records.chmod(0)
    with unprivileged():
        wrong = [(one.what, one.command) for one in unreadable_findings([records])]
    records.chmod(0o755)
    assert wrong == [("dagster", f"chmod u+rX {records}")]


@pytest.mark.parametrize("command", [("models", "list"), ("home", "verify")])
def test_a_home_that_is_a_file_is_named(tmp_path, monkeypatch, command):
    (tmp_path / "home").write_text("")
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    assert "home: not a folder; set BENCH_HOME" in bench(*command, fails=True).stderr


def test_a_path_that_is_too_long_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / ("x" * 300)))
    assert "cannot be read: File name too long" in bench("home", "verify", fails=True).stderr


@pytest.mark.parametrize("name", ["a?b", "a%20b", "a\udcff"])
def test_a_home_in_which_dagster_cannot_keep_its_records_is_refused_unmade(
    tmp_path, monkeypatch, name
):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / name))
    stderr = bench("evaluate", "codis", "--model", "random", fails=True).stderr
    shown = name.encode(errors="backslashreplace").decode()
    assert f"{shown}: Dagster cannot store its databases in a path with" in stderr
    assert not Path(tmp_path, name).exists()
