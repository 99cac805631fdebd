"""``bench tables claims``: what the papers say, tried."""

import json

import pytest

from tests.workspace.test_cli import bench

pytestmark = pytest.mark.long  # a command loads the whole graph


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))


def test_json_has_every_model_and_the_table_one_line_a_claim(home):
    rows = [
        json.loads(line)
        for line in bench("tables", "claims", "multi", "--json").stdout.splitlines()
    ]
    (whole,) = [
        row
        for row in rows
        if (row["claim"], row["on"], row["model"]) == ("knowledge_helps", "published", "")
    ]
    assert whole["verdict"] == "does not hold"
    assert {row["verdict"] for row in rows if row["on"] == "measured"} == {"cannot be told"}
    table = bench("tables", "claims", "multi").stdout
    lines = [line for line in table.splitlines() if "knowledge_helps" in line]
    assert [line.split()[2] for line in lines] == ["published", "measured"]


def test_a_suite_that_there_is_not(home):
    assert "multi" in bench("tables", "claims", "mulit", fails=True).output
