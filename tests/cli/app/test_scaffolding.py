"""What ``bench home init`` writes works as it is, under any name, and nothing is written over."""

import json
import tomllib
from pathlib import Path

import pytest

from bench_resources.config.bench_toml import load_settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from tests.fakes.commands import bench


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.mark.long
def test_a_benchmark_is_appended_to_bench_toml_and_can_be_evaluated(home):
    home.mkdir()
    (home / "bench.toml").write_text('[models.m]\nkind = "scripted"\nsays = "A"')
    bench("home", "init-benchmark", "my_shapes")
    settings = load_settings(home)
    assert list(settings.models) == ["m"]
    assert list(settings.benchmarks) == ["my_shapes"]
    result = bench("evaluate", "my_shapes", "--model", "m", "--json")
    values = {
        (row["metric"], row["category"]): (row["value"], row["n_scored"])
        for row in map(json.loads, result.stdout.splitlines())
    }
    # "A" is right once: of both-1 it is one of two letters, of shape-1 it is no word.
    assert values == {
        ("accuracy", "all"): (0.25, 4),
        ("accuracy", "colour"): (0.5, 2),
        ("accuracy", "shape"): (0.0, 2),
        ("accuracy", "level easy"): (0.5, 2),
        ("accuracy", "level hard"): (0.0, 2),
    }


def test_every_entry_of_the_commented_section_is_one_that_can_be_used(home):
    bench("home", "init-benchmark", "fridge")
    text = (home / "bench.toml").read_text()
    section = tomllib.loads(text.replace("\n# A bench", "\n## A bench").replace("\n# ", "\n"))
    (home / "bench.toml").write_text("")
    written = FileBenchmarkSettings.model_validate(section["benchmarks"]["fridge"])
    assert {"file", "columns", "answers", "prompt", "slices", "judge"} <= written.model_fields_set


@pytest.mark.parametrize(
    ("before", "arguments", "why"),
    [
        pytest.param(
            ["init-benchmark", "fridge"],
            ["init-benchmark", "fridge"],
            "section [benchmarks.fridge] already exists",
            id="a section that is there",
        ),
        pytest.param(
            ["init-suite", "fridge"],
            ["init-suite", "fridge"],
            "exists already",
            id="a package there is",
        ),
        pytest.param([], ["init-suite", "My-Fridge"], "expected lower-case letters", id="no name"),
        pytest.param([], ["init-benchmark", "9"], "expected lower-case letters", id="a number"),
        *(
            pytest.param([], [f"init-{what}", name], why, id=f"{what} {name}")
            for what in ("benchmark", "suite")
            for name, why in (
                ("codis", "'codis': already the name of an installed suite (bench-assets "),
                ("report", "'report': name: the graph itself uses "),
                ("my_ablations", "'my_ablations': name: expected letters, digits and _"),
            )
        ),
    ],
)
def test_nothing_is_written_over(home, before, arguments, why):
    if before:
        bench("home", *before)
    files = {file: file.read_bytes() for file in home.parent.rglob("*") if file.is_file()}
    result = bench("home", *arguments, fails=True)
    assert why in " ".join(result.stderr.split())
    assert files == {f: f.read_bytes() for f in home.parent.rglob("*") if f.is_file()}


@pytest.mark.long
def test_a_package_passes_its_own_tests(home, monkeypatch):
    """Its folder on the path stands in for an installation."""
    bench("home", "init-suite", "ice_box")
    root = Path("ice_box_bench").absolute()
    project = tomllib.loads((root / "pyproject.toml").read_text())
    points = project["project"]["entry-points"]["bench_assets.suites"]
    assert points == {"ice_box": "ice_box_bench.suite:SUITE"}
    assert not [file for file in root.rglob("*.*") if "ridge" in file.read_text()]
    monkeypatch.syspath_prepend(str(root))
    ran = Ran()
    assert pytest.main(["-q", "-p", "no:cacheprovider", str(root)], plugins=[ran]) == 0
    assert ran.passed == 6


class Ran:
    """Counts the tests that pass."""

    passed = 0

    def pytest_runtest_logreport(self, report):
        self.passed += report.when == "call" and report.passed


def test_a_home_is_begun_with_a_file_that_changes_nothing_and_whose_examples_are_read(home):
    bench("home", "init")
    file = home / "bench.toml"
    written = file.read_text()
    assert tomllib.loads(written) == {}
    examples = [line[1:] if line[:2] not in ("# ", "#") else line for line in written.split("\n")]
    file.write_text("\n".join(examples))
    settings = load_settings(home)
    assert list(settings.models) == ["my-model", "fast", "gpt", "made-elsewhere", "my-model-blind"]
    assert list(settings.sources) == ["codis", "blink"]
    assert "exists already; nothing was written" in bench("home", "init", fails=True).stderr
    assert file.read_text() == "\n".join(examples)
