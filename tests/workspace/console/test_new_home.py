import json
from pathlib import Path

import pytest

import bench_assets
from tests.fakes.commands import bench

ROWS = [{"question": "Is fire hot?", "answer": "yes"}]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that does not exist yet; benchmarks and results lie in the working directory."""
    (tmp_path / "facts.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    (tmp_path / "facts.toml").write_text('[benchmarks.facts]\nfile = "facts.jsonl"\n')
    sample = {"doc_id": 0, "input": "1+1?", "target": "2", "filtered_resps": "2", "acc": 1.0}
    (tmp_path / "d_samples_sums.jsonl").write_text(json.dumps(sample))
    results = {"results": {"sums": {"acc,none": 1.0}}, "model_name": "tiny"}
    (tmp_path / "d_results.json").write_text(json.dumps(results))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def assert_named_once_and_first(home: Path, stderr: str) -> None:
    assert stderr.startswith(f"{home}: created, for tables, responses and the report\n")
    assert stderr.count(": created") == 1


@pytest.mark.parametrize(
    "command",
    [
        "home init",
        "home init-benchmark fridge",
        "evaluate facts.toml --model random",
        "import d_samples_sums.jsonl",
        "report",
    ],
)
def test_a_command_names_a_new_home_once_and_first(home, capfd, command):
    result = bench(*command.split())
    assert_named_once_and_first(home, result.stderr + capfd.readouterr().err)


def test_an_evaluation_that_fails_names_a_new_home_once_and_first(home: Path) -> None:
    result = bench("evaluate", "mmstar", "--model", "x/none", fails=True)
    assert_named_once_and_first(home, result.stderr)


def test_rows_in_python_name_a_new_home_first(home, capfd):
    bench_assets.load(bench_assets.Benchmark(ROWS, name="facts"))
    assert_named_once_and_first(home, capfd.readouterr().err)


def test_generated_responses_name_a_new_home(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bench_assets.generate(lambda images, prompt: "a", ["b"])
    assert_named_once_and_first(home, capfd.readouterr().err)
