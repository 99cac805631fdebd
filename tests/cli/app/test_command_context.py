"""Bad input ends in one message that names it, and leaves the tables alone."""

import json
from pathlib import Path

import pytest

from tests.fakes.codis_source import entry
from tests.fakes.commands import bench


def break_data(text):
    return lambda folder: (folder / "data.json").write_text(text)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        pytest.param('[{"id": "0', ["data.json", "cut short"], id="truncated"),
        pytest.param(
            json.dumps([entry(image_id="../../b.png")]),
            ["there are no questions", "data.json", "../../b.png", "outside the folder"],
            id="a path out of the folder",
        ),
    ],
)
def test_bad_input_ends_in_one_message_and_leaves_tables_alone(used_home, source, data, named):
    before = {file: file.read_bytes() for file in tables(used_home)}
    (source / "data.json").write_text(data)
    result = bench("evaluate", "codis", "--model", "random", "--source", source, fails=True)
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
