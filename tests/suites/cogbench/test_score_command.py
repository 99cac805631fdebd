"""Descriptions that were made elsewhere: what ``bench evaluate --responses`` says of them."""

import json

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from tests.suites.cogbench.release import described, write_release


@pytest.mark.long
def test_scoring_descriptions_gives_recognition_too(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    chain = ["[The girl holds a string] -> [The girl flies a kite]"]
    names = [
        f"kite-{n}" for n in range(5)
    ]  # as many as the authors' samples: an edition of one's own
    stories = {
        name: described(**{"Image Name": f"{name}.jpg", "Event Reasoning": chain}) for name in names
    }
    images = tuple(f"{name}.jpg" for name in names)
    source = write_release(tmp_path / "source", stories, images=images)
    responses = tmp_path / "somebody.jsonl"
    text = "A girl. There is no kite."
    said = [{"question_id": f"cogbench/description/{name}", "text": text} for name in names]
    responses.write_text("\n".join(map(json.dumps, said)))
    arguments = [
        "evaluate",
        "cogbench/description",
        "--responses",
        str(responses),
        "--source",
        str(source),
        "--json",
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    values = {row["metric"]: row["value"] for row in rows if row["category"] == "all"}
    assert (values["recognition"], values["recognition_official"]) == (0.5, 1.0)
