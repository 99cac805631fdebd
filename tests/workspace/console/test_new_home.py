"""A home that is made is named once, before anything else is printed, in each way in."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import bench_assets
from tests.fakes.commands import bench

ROWS = [{"question": "Is fire hot?", "answer": "yes"}]


def file_of_questions(folder: Path) -> Path:
    (folder / "facts.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    section = folder / "facts.toml"
    section.write_text('[benchmarks.facts]\nfile = "facts.jsonl"\n')
    return section


def results_of_others(folder: Path) -> Path:
    sample = {"doc_id": 0, "input": "1+1?", "target": "2", "filtered_resps": "2", "acc": 1.0}
    (folder / "d_samples_sums.jsonl").write_text(json.dumps(sample))
    results = {"results": {"sums": {"acc,none": 1.0}}, "model_name": "tiny"}
    (folder / "d_results.json").write_text(json.dumps(results))
    return folder / "d_samples_sums.jsonl"


WAYS: dict[str, Callable[[Path], object]] = {
    "a template": lambda _: bench("home", "init"),
    "a section": lambda _: bench("home", "init-benchmark", "fridge"),
    "a known benchmark": lambda _: bench("evaluate", "mmstar", "--model", "x/none", fails=True),
    "a file": lambda folder: bench("evaluate", file_of_questions(folder), "--model", "random"),
    "rows": lambda _: bench_assets.load(bench_assets.Benchmark(ROWS, name="facts")),
    "prompts": lambda _: bench_assets.generate(lambda images, prompt: "a", ["b"]),
    "results": lambda folder: bench("import", results_of_others(folder)),
    "the report": lambda _: bench("report"),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_new_home_is_named_once_and_first(
    way: Callable[[Path], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("BENCH_HOME", str(home))
    result = way(tmp_path)
    printed = getattr(result, "stderr", "") + capfd.readouterr().err
    sentence = f"{home}: created, for tables, responses and the report"
    assert printed.splitlines()[0] == sentence
    assert printed.count(": created") == 1
