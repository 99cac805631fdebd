"""Installed beside bench-assets, the suite is there for the command line like any other."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench_assets.catalog import load_catalog
from bench_assets.cli.main import app
from hallusion_bench.suite import SUITE

PACKAGE = Path(__file__).parent.parent


@pytest.fixture
def home(installed, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def bench(*arguments):
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_catalog_has_it_by_its_entry_point(installed):
    assert "hallusion_bench" in load_catalog().names
    assert load_catalog().suite("hallusion_bench").tasks == SUITE.tasks


def test_bench_evaluates_a_recorded_model_on_the_mini_edition(home):
    """Right about every figure but those that were edited, where it says what it said before."""
    rows = bench("tables", "questions", "hallusion_bench")
    known = {row["group_id"]: row["answer"] for row in rows if row["labels"]["figure_id"] == "0"}
    responses = [
        {"question_id": row["question_id"], "text": f"{known[row['group_id']][0].title()}, it is."}
        for row in rows
    ]
    (home / "said.jsonl").write_text("\n".join(map(json.dumps, responses)))
    (home / "bench.toml").write_text('[models.said]\nkind = "recorded"\nfile = "said.jsonl"\n')
    metrics = bench("evaluate", "hallusion_bench", "--model", "said")
    found = {row["metric"]: row["value"] for row in metrics if row["category"] == "all"}
    assert found["q_acc"] == found["hard_acc"] == 0
    assert found["easy_acc"] == 1
    assert found["a_acc"] == pytest.approx((122 - 50) / 122)
    assert found["mixed"] == pytest.approx(28 / 50)
    assert {row["n_failed"] for row in metrics} == {0}
    assert {row["edition"] for row in metrics} == {"mini"}


@pytest.mark.long  # builds a wheel
def test_pip_installs_it_with_its_data_and_its_entry_point(tmp_path):
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation")
    copy = shutil.copytree(PACKAGE, tmp_path / "copy")  # pip leaves its own files beside the code
    site = tmp_path / "site"
    subprocess.run([sys.executable, *pip, "--target", site, copy], check=True)
    about = next(site.glob("*.dist-info")) / "entry_points.txt"
    assert "hallusion_bench = hallusion_bench.suite:SUITE" in about.read_text()
    for data in ("published.csv", "mini/worlds.json"):
        assert (site / "hallusion_bench" / data).is_file()
