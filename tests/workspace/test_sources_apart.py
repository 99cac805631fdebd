"""What was made of one source stays when another is asked; the leaderboard shows both."""

import json

import pytest

from bench_assets.catalog import Catalog
from bench_assets.file_benchmarks.suite import file_benchmark_suites
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings

TOML = """
[benchmarks.fridge]
file = "one.jsonl"
{sources}
[models.a]
kind = "scripted"
says = "A"
"""


def write(file, answers):
    question = {"question": "Which?", "options": ["red", "blue"]}
    rows = [json.dumps(question | {"id": n, "answer": one}) for n, one in enumerate(answers)]
    file.write_text("\n".join(rows))


@pytest.fixture
def home(tmp_path):
    write(tmp_path / "one.jsonl", "AAAA")
    write(tmp_path / "two.jsonl", "ABBB")
    return configure(tmp_path)


def configure(home, sources=""):
    (home / "bench.toml").write_text(TOML.format(sources=sources))
    return home


def bench(home, source=None):
    settings = load_settings(home).with_overrides(sources={"fridge": source} if source else {})
    suites = tuple(suite for _, suite in file_benchmark_suites(settings))
    return Workbench(settings, catalog=Catalog(suites=suites))


def evaluate(home, source=None):
    with bench(home, source) as opened:
        opened.refresh_questions("fridge")
        opened.evaluate(["fridge"], "a")
        return [row.value for row in opened.metrics("fridge", "a") if row.category == "all"]


def standings(home):
    with bench(home) as opened:
        opened.refresh_leaderboard()
        return [(row.value, row.place.partition("-")[0]) for row in opened.rows("leaderboard")]


@pytest.mark.long
def test_none_replaces_the_other_whichever_is_named(home):
    assert evaluate(home) == [1.0]
    assert standings(home) == [(1.0, "")]

    assert evaluate(home, home / "two.jsonl") == [0.25]
    assert standings(home) == [(1.0, ""), (0.25, "two.jsonl")]

    configure(home, sources='[sources]\nfridge = "two.jsonl"')
    assert standings(home) == [(0.25, ""), (1.0, "none named")]  # nothing is made again


@pytest.mark.long
def test_runs_on_a_source_that_is_not_named_are_not_what_the_ui_follows(home):
    evaluate(home, home / "two.jsonl")
    assert not (home / "dagster").exists()
    evaluate(home)
    assert (home / "dagster").exists()
