"""The merge gate of docs/ci.md, as a CI host runs it: 0 if nothing is worse, 3 if a task is."""

import json
import shlex
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.docs.blocks import CHECKOUT, blocks
from tests.fakes.commands import bench

(WORKFLOW,) = (block for block in blocks((CHECKOUT / "docs/ci.md").read_text()) if block.how)
STEPS = yaml.safe_load(WORKFLOW.text)["jobs"]["gate"]["steps"]
COMMANDS = [
    shlex.split(line)[1:]
    for step in STEPS
    for line in step.get("run", "").splitlines()
    if line.startswith("bench ")
]


@pytest.mark.parametrize(
    ("candidate", "code", "failures"),
    [pytest.param("A", 0, "0", id="equal"), pytest.param("B", 3, "1", id="worse")],
)
def test_the_gate_of_the_page(tmp_path, monkeypatch, candidate, code, failures):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "bench_home"))
    rows = [
        {"id": n, "question": f"Which, {n}?", "options": ["red", "blue"], "answer": "A"}
        for n in range(30)
    ]
    (tmp_path / "fridge.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (tmp_path / "fridge.toml").write_text('[benchmarks.fridge]\nfile = "fridge.jsonl"\n')
    (tmp_path / "bench_home").mkdir()
    (tmp_path / "bench_home/bench.toml").write_text(
        "".join(
            f'[models.{name}]\nkind = "scripted"\nsays = "{letter}"\n'
            for name, letter in {"released": "A", "candidate": candidate}.items()
        )
    )
    evaluate, diff = COMMANDS
    bench(*evaluate)
    bench(*(part.replace("$GITHUB_STEP_SUMMARY", "summary.md") for part in diff), code=code)
    assert ET.parse(tmp_path / "gate.xml").getroot().get("failures") == failures
    assert (tmp_path / "summary.md").read_text().startswith("candidate against released: ")
