"""Bad input ends in one message that names it, and leaves the tables alone."""

import json
from pathlib import Path

import pytest

from tests.fakes.codis_source import entry
from tests.fakes.commands import bench


def break_nothing(folder):
    pass


def break_data(text):
    return lambda folder: (folder / "data.json").write_text(text)


@pytest.mark.parametrize(
    ("break_it", "model", "named"),
    [
        pytest.param(
            lambda folder: (folder / "data.json").unlink(),
            "random",
            ["no CODIS data"],
            id="no data",
            marks=pytest.mark.long,
        ),
        pytest.param(
            break_data('[{"id": "0'),
            "random",
            ["data.json", "cut short"],
            id="truncated",
        ),
        pytest.param(
            break_data(json.dumps([entry(image_id="../../b.png")])),
            "random",
            ["there are no questions", "data.json", "../../b.png", "outside the folder"],
            id="a path out of the folder",
        ),
        pytest.param(break_nothing, "nobody", ["nobody", "smollm2"], id="no such model"),
        pytest.param(
            break_nothing,
            "down",
            ["127.0.0.1:9", "cannot be reached"],
            id="server down",
            marks=pytest.mark.long,
        ),
    ],
)
def test_bad_input_ends_in_one_message_and_leaves_tables_alone(
    used_home, source, break_it, model, named
):
    (used_home / "bench.toml").write_text(
        '[models.down]\nkind = "server"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
        "max_tries = 1\n"
    )
    before = {file: file.read_bytes() for file in tables(used_home)}
    break_it(source)
    result = bench("evaluate", "codis", "--model", model, "--source", source, fails=True)
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr
    assert [name for name in named if name not in result.stderr] == [], result.stderr
    kept = ("questions", "predictions", "scores", "metrics", "leaderboard")
    after = {file: file.read_bytes() for file in tables(used_home)}
    assert {f for f in before if f.parent.name in kept and after[f] != before[f]} == set()


@pytest.mark.long
def test_a_bad_image_rejects_its_rows_alone(used_home, source):
    (source / "images" / "b.png").write_bytes(b"text")
    result = bench("evaluate", "codis", "--model", "random", "--source", source)
    reason = "images/b.png: not an image"
    assert f"codis: 2 rows of the source rejected, the first: {reason}" in result.stderr


def tables(home) -> list[Path]:
    return sorted((home / "tables").rglob("*.parquet"))


def test_what_is_not_installed_stops_only_its_own_part(home):
    (home / "bench.toml").write_text(
        '[models.x]\nkind = "llama"\n[sources]\ncods = "x"\n[suites.acme]\nlevel = 3\n'
    )
    result = bench("leaderboard")
    parts = ("[models.x] is left out", "no suite named 'cods' is", "no suite named 'acme' is")
    assert [result.stderr.count(part) for part in parts] == [1, 1, 1]
    assert "nstall its package" in result.stderr
