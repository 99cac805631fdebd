import json
import tomllib
from pathlib import Path

import pytest

from bench_resources.config.bench_toml import load_settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from tests.fakes.commands import bench, file_contents


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
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    values = {(row["metric"], row["category"]): (row["value"], row["n_scored"]) for row in rows}
    # "A" answers one of the four questions: both-1 needs a second letter, and shape-1 a word.
    assert values == {
        ("accuracy", "all"): (0.25, 4),
        ("accuracy", "colour"): (0.5, 2),
        ("accuracy", "shape"): (0.0, 2),
        ("accuracy", "level easy"): (0.5, 2),
        ("accuracy", "level hard"): (0.0, 2),
    }


def test_the_commented_entries_of_a_new_section_are_valid(home):
    bench("home", "init-benchmark", "fridge")
    text = (home / "bench.toml").read_text()
    section = tomllib.loads(text.replace("\n# A bench", "\n## A bench").replace("\n# ", "\n"))
    (home / "bench.toml").write_text("")
    settings = FileBenchmarkSettings.model_validate(section["benchmarks"]["fridge"])
    assert {"file", "columns", "answers", "prompt", "slices", "judge"} <= settings.model_fields_set


@pytest.mark.parametrize(
    ("command", "expected_message"),
    [
        ("init-benchmark", "section [benchmarks.fridge] already exists"),
        ("init-suite", "exists already"),
    ],
)
def test_a_benchmark_or_suite_that_exists_is_not_overwritten(home, command, expected_message):
    bench("home", command, "fridge")
    before = file_contents(home.parent)
    result = bench("home", command, "fridge", fails=True)
    assert expected_message in " ".join(result.stderr.split())
    assert file_contents(home.parent) == before


@pytest.mark.parametrize("command", ["init-benchmark", "init-suite"])
@pytest.mark.parametrize(
    ("name", "expected_message"),
    [
        ("My-Fridge", "expected lower-case letters"),
        ("9", "expected lower-case letters"),
        ("codis", "'codis': already the name of an installed suite (bench-assets "),
        ("mmmu", "'mmmu': the name of a known benchmark"),
        ("report", "'report': name: the graph itself uses "),
        ("my_ablations", "'my_ablations': name: expected letters, digits and _"),
    ],
)
def test_an_invalid_or_taken_name_is_refused(home, command, name, expected_message):
    before = file_contents(home.parent)
    result = bench("home", command, name, fails=True)
    assert expected_message in " ".join(result.stderr.split())
    assert file_contents(home.parent) == before


class PassedTests:
    """A plugin of pytest that counts the tests that pass."""

    def __init__(self):
        self.count = 0

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            self.count += 1


@pytest.mark.long
def test_a_new_package_passes_its_own_tests(home, monkeypatch):
    """Its folder on the path stands in for an installation."""
    bench("home", "init-suite", "ice_box")
    root = Path("ice_box_bench").absolute()
    project = tomllib.loads((root / "pyproject.toml").read_text())
    entry_points = project["project"]["entry-points"]["bench_assets.suites"]
    assert entry_points == {"ice_box": "ice_box_bench.suite:SUITE"}
    # No name of the template, whose suite is "fridge", is left.
    assert [file for file in root.rglob("*.*") if "ridge" in file.read_text()] == []

    monkeypatch.syspath_prepend(str(root))
    passed = PassedTests()
    arguments = ["-q", "-p", "no:cacheprovider", str(root)]
    assert pytest.main(arguments, plugins=[passed]) == 0
    assert passed.count == 6  # those in the template of its tests


def test_a_new_bench_toml_changes_no_setting(home):
    bench("home", "init")
    assert tomllib.loads((home / "bench.toml").read_text()) == {}


def test_the_commented_examples_of_a_new_bench_toml_are_valid(home):
    bench("home", "init")
    file = home / "bench.toml"
    lines = file.read_text().split("\n")
    examples = [line[1:] if line[:2] not in ("# ", "#") else line for line in lines]
    file.write_text("\n".join(examples))
    settings = load_settings(home)
    assert list(settings.models) == ["my-model", "fast", "gpt", "made-elsewhere", "my-model-blind"]
    assert list(settings.sources) == ["codis", "blink"]


def test_an_existing_bench_toml_is_not_overwritten(home):
    home.mkdir()
    (home / "bench.toml").write_text("accept = []")
    assert "exists already; nothing was written" in bench("home", "init", fails=True).stderr
    assert (home / "bench.toml").read_text() == "accept = []"
