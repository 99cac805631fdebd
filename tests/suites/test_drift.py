"""A raw file with a renamed field, or cut in half, stops the build; accepted, it passes once."""

import shutil

import dagster as dg
import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import BenchError
from bench_assets.suites.codis import synthetic as codis
from bench_assets.suites.cogbench.synthetic import edition as cogbench
from bench_assets.suites.multi.synthetic import edition as multi
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_state import accept_drift

EDITIONS = {"codis": codis, "cogbench": cogbench, "multi": multi}
FIELDS = [
    ("codis", "captions.jsonl", "image_id", 37),
    ("codis", "submissions.json", "revises", 58),
    ("codis", "votes.json", "correct", 235),
    ("cogbench", "annotations.json", "annotator", 78),
    ("cogbench", "reviews.json", "accept", 13),
    ("multi", "annotations.json", "round", 178),
    ("multi", "raw_problems.json", "knowledge", 85),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A home for each suite, whose raw material it has built once."""
    homes = {}

    def home_of(suite):
        if suite not in homes:
            home = homes[suite] = tmp_path_factory.mktemp(suite)
            EDITIONS[suite].write(home / "raw")
            (home / "bench.toml").write_text(f'[sources]\n{suite} = "raw"\n')
            build(home, suite)
        return homes[suite]

    return home_of


@pytest.fixture
def home(built, tmp_path, request):
    suite = request.node.callspec.params["suite"]
    return shutil.copytree(built(suite), tmp_path / suite)


def build(home, suite):
    settings = load_settings(home)
    with Workbench(settings, catalog=load_catalog(settings, only={suite})) as bench:
        bench.refresh_questions(suite)


def accept(home, suite):
    settings = load_settings(home)
    with Workbench(settings, catalog=load_catalog(settings, only={suite})) as bench:
        accept_drift(bench.tables, suite, settings)


@pytest.mark.long
@pytest.mark.parametrize(("suite", "name", "field", "n"), FIELDS)
def test_a_renamed_field_is_named_with_its_file_and_count(home, suite, name, field, n):
    file = home / "raw" / name
    file.write_text(file.read_text().replace(f'"{field}":', f'"{field}_2":'))
    for _ in range(2):
        with pytest.raises(BenchError, match=rf"{name}: .*field '{field}' in 0 rows \({n} before"):
            build(home, suite)


@pytest.mark.long
@pytest.mark.parametrize(("suite", "name"), [(suite, name) for suite, name, *_ in FIELDS])
def test_a_file_cut_in_half_is_named(home, suite, name):
    file = home / "raw" / name
    half = file.read_bytes()[: file.stat().st_size // 2]
    file.write_bytes(half)
    with pytest.raises(BenchError, match=rf"{name}.*: not JSON, or cut short"):
        build(home, suite)


@pytest.mark.long
@pytest.mark.parametrize("suite", ["codis"])
def test_what_is_accepted_passes_once(home, suite):
    file = home / "raw/captions.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:18]))
    with pytest.raises(BenchError, match=r"captions.jsonl: 18 rows \(37 before\)"):
        build(home, suite)
    accept(home, suite)
    build(home, suite)
    file.write_text("".join(lines[:9]))
    with pytest.raises(BenchError, match=r"captions.jsonl: 9 rows \(18 before\)"):
        build(home, suite)


@pytest.mark.long
@pytest.mark.parametrize("suite", ["codis"])
def test_a_file_that_is_gone_is_named(home, suite):
    (home / "raw/captions.jsonl").unlink()
    with pytest.raises(BenchError, match=r"captions.jsonl is gone \(37 rows before\)"):
        build(home, suite)
    accept(home, suite)
    build(home, suite)


@pytest.mark.long
@pytest.mark.parametrize("suite", ["multi"])
def test_the_knowledge_of_a_condition_is_compared(home, suite):
    build_condition(home)
    file = home / "raw/knowledge_mini.json"
    file.write_text(file.read_text().replace('"knowledge_content":', '"content":'))
    with pytest.raises(BenchError, match=r"knowledge_mini.json: .*field 'knowledge_content' in 0"):
        build_condition(home)


def build_condition(home):
    settings = load_settings(home)
    keys = [["multi", "with_knowledge", name] for name in ("knowledge_links", "questions")]
    with Workbench(settings, catalog=load_catalog(settings, only={"multi"})) as bench:
        bench.materialize(dg.AssetSelection.assets(*keys))
