"""What counts as a change of what a suite's questions are made of."""

import os
from dataclasses import replace
from pathlib import Path
from shutil import copyfile, copytree

import pytest

from bench_assets.core.schema.errors import BenchError
from bench_assets.suites.codis.suite import SUITE as CODIS
from bench_assets.workspace.materialization import freshness
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import SourceFiles
from tests.conftest import CHECKOUT
from tests.suites.codis.raw import entry, png, write_release

TOML = """
[sources]
codis = "../codis"
[suites.codis]
captioner = "c"
captions = "captions.jsonl"
{suite}
[models.c]
kind = "scripted"
says = "{says}"
{models}
"""


SUITES = CHECKOUT / "bench_assets" / "suites"


@pytest.fixture
def home(tmp_path):
    write_release(tmp_path / "codis", [entry()])
    home = tmp_path / "home"
    home.mkdir()
    (home / "captions.jsonl").write_text("")
    configure(home)
    return home


def configure(home: Path, says="A", suite="", models=""):
    (home / "bench.toml").write_text(TOML.format(says=says, suite=suite, models=models))


def inputs(home: Path) -> str:
    source = SourceFiles(settings=load_settings(home)).open("codis")
    return freshness.inputs_digest(load_settings(home), CODIS, source)


def write_as_long(home):
    """Another content of the same length a second later."""
    file = home.parent / "codis" / "data.json"
    then = file.stat().st_mtime_ns + 10**9
    file.write_text(file.read_text().replace("left", "back"))
    os.utime(file, ns=(then, then))


def link_images(home):
    (home.parent / "elsewhere").mkdir()
    (home.parent / "codis" / "more").symlink_to(home.parent / "elsewhere")
    (home.parent / "elsewhere" / "b.png").write_bytes(png())


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        pytest.param(lambda _: None, False, id="nothing at all"),
        pytest.param(write_as_long, True, id="another text of the same length"),
        pytest.param(
            lambda home: (home.parent / "codis" / "images" / "b.png").write_bytes(png()),
            True,
            id="another image",
        ),
        pytest.param(
            lambda home: (home.parent / "codis" / "images" / "a.png").unlink(),
            True,
            id="an image less",
        ),
        pytest.param(link_images, True, id="an image in a folder that is linked to"),
        pytest.param(
            lambda home: configure(home, suite='word_pairs = [["up", "down"]]'),
            True,
            id="a setting of the suite",
        ),
        pytest.param(lambda home: configure(home, says="B"), True, id="a model that it names"),
        pytest.param(
            lambda home: (home / "captions.jsonl").write_text("{}"), True, id="a file that it names"
        ),
        pytest.param(
            lambda home: configure(home, suite='judge = "c"\nscorer = "strict"'),
            False,
            id="who judges, and how responses are read",
        ),
        pytest.param(
            lambda home: configure(home, models='[models.new]\nkind = "random"'),
            False,
            id="a model that it does not name",
        ),
    ],
)
def test_change(home, change, counts):
    before = inputs(home)
    change(home)
    assert (inputs(home) != before) == counts


def test_the_code_that_counts_is_what_all_suites_share_and_the_suites_own(tmp_path):
    (tmp_path / "elsewhere.py").write_text("")
    suite = replace(CODIS, code=(SUITES / "codis", tmp_path / "elsewhere.py"))
    files = {name for name, _ in freshness.code_digests(tmp_path, suite)}
    assert {"elsewhere.py", "codis/suite.py", "evaluation/pipeline.py"} <= files
    assert not any(name.startswith(("suites/", "blink/", "cli/", "report/")) for name in files)


@pytest.fixture
def bench(home):
    configure(home)
    (home / "captions.jsonl").unlink()
    (home / "bench.toml").write_text('[sources]\ncodis = "../codis"\n')
    with Workbench(load_settings(home), ["codis"], scratch=home / "tables") as opened:
        yield opened


def test_questions_are_built_when_something_changed_and_only_then(home, bench):
    def refresh() -> int:
        before = bench.instance.get_runs_count()
        bench.refresh_questions("codis")
        return bench.instance.get_runs_count() - before

    assert refresh() == 1
    assert bench.instance.get_runs()[0].tags["bench/run"] == "codis"
    assert bench.instance.get_runs()[0].tags[".dagster/repository"] == "__repository__@bench_assets"
    assert refresh() == 0
    write_as_long(home)
    bench.tables.path(["codis", "questions"]).unlink()
    assert refresh() == 1
    assert {question.context for question in bench.rows("codis/questions")} == {
        "I go back.",
        "I go right.",
    }


@pytest.mark.long
def test_a_home_that_was_copied_is_as_fresh_as_it_was(home, bench):
    bench.refresh_questions("codis")
    bench.evaluate(["codis"], "random")
    there = home.parent / "elsewhere"
    for name in ("codis", "home"):  # with other times
        copytree(home.parent / name, there / name, copy_function=copyfile, symlinks=True)
    settings = load_settings(there / "home")
    with Workbench(settings, ["codis"], scratch=there / "home" / "tables") as copied:
        copied.refresh_questions("codis")
        copied.evaluate(["codis"], "random")
        assert copied.instance.get_runs_count() == 0
        file = there / "codis" / "data.json"
        file.write_text(file.read_text().replace("left", "back"))
        copied.refresh_questions("codis")
        assert copied.instance.get_runs_count() == 1


def test_a_build_that_failed_is_not_taken_for_one_that_did_not(home, bench):
    write_release(home.parent / "codis", '[{"id": "0')
    for _ in range(2):
        with pytest.raises(BenchError, match=r"data.json"):
            bench.refresh_questions("codis")
