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


def commands_of_verify():
    """The command for each damaged, missing or unreadable part, by its name."""
    return {
        row["what"]: row["command"]
        for row in lines(bench("home", "verify", "--json", fails=True))
        if row["state"] in ("damaged", "missing", "unreadable")
    }


def codis_tables(home):
    """The folder of CODIS' tables, of the source that bench.toml names."""
    (folder,) = home.glob("tables/.of/codis-*")
    return folder / "codis"


def flip_bit(file, position=40):
    data = bytearray(file.read_bytes())
    data[position] ^= 1
    file.write_bytes(data)


@pytest.mark.long
@pytest.mark.parametrize(
    "spoil_image", [flip_bit, Path.unlink], ids=["a damaged image", "a missing image"]
)
def test_damage_is_named_and_the_commands_mend_it(home, spoil_image):
    image = min((home / "images").glob("*/*"))
    spoil_image(image)
    flip_bit(codis_tables(home) / "scores/random.parquet")
    flip_bit(codis_tables(home) / "questions/all.parquet")
    expected_commands = {
        "codis/scores of random": "bench evaluate codis --model random",
        "codis/questions": "bench tables questions codis",
    }
    commands = commands_of_verify()
    assert expected_commands.items() <= commands.items()
    assert any(image.name in name for name in commands)

    for command in expected_commands.values():
        bench(*shlex.split(command)[1:])
    bench("home", "verify")  # exit code 0


def test_other_damage_is_named_with_a_command_for_its_files(home):
    with closing(sqlite3.connect(home / "responses.sqlite")) as db, db:
        db.execute("INSERT INTO responses (key, text, digest) VALUES ('k', 'yes', 'other')")
    flip_bit(home / "dagster/schedules/schedules.db", 3)
    (codis_tables(home) / "old").mkdir()
    (codis_tables(home) / "old/all.parquet").write_bytes(b"PAR1")
    commands = commands_of_verify()
    assert commands.keys() == {"responses", "dagster", "codis/old"}
    assert "bench evaluate" in commands.pop("responses")
    assert all(str(home) in command for command in commands.values())


def test_a_folder_that_may_not_be_read_is_named_once(home):
    records = home / "dagster"
    records.chmod(0)
    with unprivileged():
        (finding,) = unreadable_findings([records])
    records.chmod(0o755)
    assert (finding.what, finding.command) == ("dagster", f"chmod u+rX {records}")


@pytest.mark.parametrize("command", [("models", "list"), ("home", "verify")])
def test_a_home_that_is_a_file_is_named(tmp_path, monkeypatch, command):
    (tmp_path / "home").write_text("")
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    assert "home: not a folder; set BENCH_HOME" in bench(*command, fails=True).stderr


def test_a_path_that_is_too_long_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / ("x" * 300)))
    assert "cannot be read: File name too long" in bench("home", "verify", fails=True).stderr


@pytest.mark.parametrize("name", ["a?b", "a%20b", "a\udcff"])
def test_a_home_whose_path_dagster_cannot_use_is_refused_and_not_made(tmp_path, monkeypatch, name):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / name))
    stderr = bench("evaluate", "codis", "--model", "random", fails=True).stderr
    printed_name = name.encode(errors="backslashreplace").decode()
    assert f"{printed_name}: Dagster cannot store its databases in a path with" in stderr
    assert not Path(tmp_path, name).exists()
