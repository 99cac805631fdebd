import json
import os
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from bench_assets.core.schema.rows import Metric
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import tables_of
from tests.docs.blocks import CHECKOUT, blocks
from tests.fakes.commands import bench
from tests.fakes.rows import metric


def gate_commands():
    """The arguments of each ``bench`` command of the workflow in docs/ci.md."""
    page = (CHECKOUT / "docs/ci.md").read_text()
    (workflow,) = (block for block in blocks(page) if block.how)
    steps = yaml.safe_load(workflow.text)["jobs"]["gate"]["steps"]
    lines = "\n".join(step.get("run", "") for step in steps).splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("bench ")]


@pytest.fixture
def gate_folder(tmp_path, monkeypatch):
    """A folder with a benchmark of thirty questions, all of which "A" answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "bench_home"))
    rows = [
        {"id": n, "question": f"Which, {n}?", "options": ["red", "blue"], "answer": "A"}
        for n in range(30)
    ]
    (tmp_path / "fridge.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (tmp_path / "fridge.toml").write_text('[benchmarks.fridge]\nfile = "fridge.jsonl"\n')
    (tmp_path / "bench_home").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("candidate", "code", "failures"),
    [
        pytest.param("A", 0, "0", id="equal", marks=pytest.mark.long),
        pytest.param("B", 3, "1", id="worse"),
    ],
)
def test_the_gate_of_the_page_fails_a_worse_candidate(gate_folder, candidate, code, failures):
    (gate_folder / "bench_home/bench.toml").write_text(
        '[models.released]\nkind = "scripted"\nsays = "A"\n'
        f'[models.candidate]\nkind = "scripted"\nsays = "{candidate}"\n'
    )
    evaluate, diff = gate_commands()
    bench(*evaluate)
    bench(*(word.replace("$GITHUB_STEP_SUMMARY", "summary.md") for word in diff), code=code)
    assert ET.parse(gate_folder / "gate.xml").getroot().get("failures") == failures
    summary = (gate_folder / "summary.md").read_text()
    assert summary.startswith("candidate against released: ")


BIN = Path(sys.executable).parent
PAGE = (CHECKOUT / "docs" / "dagster.md").read_text("utf-8")


@pytest.fixture
def folder(tmp_path):
    """A folder with the page's files, and a home beside them."""
    for block in blocks(PAGE):
        if block.how.endswith((".py", ".yaml")):
            (tmp_path / block.how).write_text(block.text, encoding="utf-8")
    (tmp_path / "home").mkdir()
    return tmp_path


def run_program(folder, *words, cwd=None):
    """Run a program beside this Python, which has to succeed; return what it prints."""
    shared = {"DAGSTER_HOME": "", "VIRTUAL_ENV": str(BIN.parent), "PYTHONPATH": str(CHECKOUT)}
    environment = os.environ | shared | {"BENCH_HOME": str(folder / "home")}
    process = subprocess.run(
        [BIN / words[0], *words[1:]],
        cwd=cwd or folder,
        env={name: value for name, value in environment.items() if value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout + process.stderr


@pytest.mark.long  # make check loads by dg
@pytest.mark.skipif(not (BIN / "dg").exists(), reason="no dg beside this Python")
@pytest.mark.skipif(version("dagster") != version("dagster-shared"), reason="dg of another release")
def test_dg_lists_and_launches_in_the_checkout(folder):
    listed = run_program(folder, "dg", "list", "defs", "--json", cwd=CHECKOUT)
    assets = json.loads(listed[listed.index("{") : listed.rindex("}") + 1])["assets"]
    assert {"codis/questions", "leaderboard"} <= {asset["asset_key"] for asset in assets}
    launched = run_program(folder, "dg", "launch", "--assets", "codis/source", cwd=CHECKOUT)
    assert "RUN_SUCCESS" in launched
    assert (folder / "home" / "tables" / "codis" / "source").is_dir()


@pytest.mark.long
def test_an_asset_of_another_code_location_reads_the_tables(folder):
    tables = tables_of(load_settings(folder / "home"))
    for model, value in (("a", 0.25), ("b", 0.5)):
        row = metric(model, value, task="codis", metric="acc_p", edition="mini")
        tables.write(["codis", "metrics"], [row], Metric, model)
    output = run_program(
        folder, "dagster", "asset", "materialize", "-f", "downstream.py", "--select", "best_model"
    )
    assert "best model: b, 0.500" in output


@pytest.mark.long
def test_both_code_locations_load_side_by_side(folder):
    run_program(folder, "dagster", "definitions", "validate", "-w", "workspace.yaml")


@pytest.mark.long
def test_an_io_manager_of_a_user_replaces_that_of_the_package(folder):
    output = run_program(
        folder, "dagster", "asset", "materialize", "-f", "replaced.py", "--select", "codis/source"
    )
    assert "codis/source: " in output
    assert (folder / "home" / "tables" / "codis" / "source").is_dir()
