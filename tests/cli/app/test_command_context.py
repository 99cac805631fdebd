import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from tests.fakes.codis_source import entry
from tests.fakes.commands import bench


@pytest.mark.parametrize(
    ("data", "message_parts"),
    [
        pytest.param('[{"id": "0', ["data.json", "cut short"], id="truncated"),
        pytest.param(
            json.dumps([entry(image_id="../../b.png")]),
            ["there are no questions", "data.json", "../../b.png", "outside the folder"],
            id="a path out of the folder",
        ),
    ],
)
def test_bad_input_ends_in_one_message_and_leaves_tables_alone(
    used_home, source, data, message_parts
):
    before = result_tables(used_home)
    (source / "data.json").write_text(data)

    result = bench("evaluate", "codis", "--model", "random", "--source", source, fails=True)

    progress, _, message = result.stderr.partition("error: ")  # a slow build prints progress first
    assert progress == "" or progress.endswith(" tables\n")
    assert "Traceback" not in result.stderr
    assert "error: " not in message
    assert [part for part in message_parts if part not in message] == [], result.stderr
    after = result_tables(used_home)  # tables may be added
    assert [file for file in before if after[file] != before[file]] == []


@pytest.mark.parametrize(
    ("variables", "is_printed"), [({}, False), ({"BENCH_TRACEBACK": "1"}, True)]
)
def test_a_traceback_is_printed_on_request(variables, is_printed):
    result = CliRunner().invoke(app, ["models", "list", "nobody"], env=variables)
    assert ("Traceback" in result.stderr) == is_printed
    assert "error: no model" in result.stderr


@pytest.mark.long
def test_a_bad_image_rejects_only_its_rows(used_home, source):
    (source / "images" / "b.png").write_bytes(b"text")
    result = bench("evaluate", "codis", "--model", "random", "--source", source)
    reason = "images/b.png: not an image"
    assert f"codis: 2 rows of the source rejected, the first: {reason}" in result.stderr


def result_tables(home: Path) -> dict[Path, bytes]:
    """The files of questions, responses and numbers, with their content."""
    names = ("questions", "predictions", "scores", "metrics", "leaderboard")
    files = {file: file.read_bytes() for file in (home / "tables").rglob("*.parquet")}
    results = {file: content for file, content in files.items() if file.parent.name in names}
    assert results
    return results
