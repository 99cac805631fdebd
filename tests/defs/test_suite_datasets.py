"""A left half is loaded if the rest of the graph can build on it; else its suite is left out."""

from importlib import import_module

import dagster as dg
import pytest

from bench_assets.asset_factory.suite_assets import load_package_assets
from bench_assets.catalog import Catalog
from bench_assets.defs.assembly import build_graph
from bench_assets.defs.suite_datasets import load_suite_assets
from bench_assets.evaluation.suite import Suite
from bench_resources.config.bench_toml import load_settings
from tests.fakes.quiz import TASK


def table(*key, group="quiz"):
    return dg.AssetSpec([*key], group_name=group)


@dg.asset(key_prefix="quiz", required_resource_keys={"models", "oven"})
def pie() -> None: ...


@dg.multi_asset(name="evaluate_quiz", specs=[table("quiz", "cake"), table("quiz", "bread")])
def bakery() -> tuple[None, None]:
    return None, None


def broken():
    raise ImportError("no module named fridges")


GOOD = [table("quiz", "questions"), table("quiz", "source", group="images")]


@pytest.mark.parametrize(
    ("assets", "why"),
    [
        pytest.param(
            broken,
            "its assets cannot be loaded: ImportError: no module named fridges",
            id="an import that fails",
        ),
        pytest.param(
            lambda: None,
            "its assets cannot be loaded: TypeError: 'NoneType' object is not iterable",
            id="nothing returned",
        ),
        pytest.param(
            lambda: [*GOOD, broken],
            f"{broken!r} is neither an asset nor an asset check",
            id="a function that was not made an asset",
        ),
        pytest.param(
            lambda: GOOD[1:],
            "quiz/questions: there is no such asset; quiz, condition main, asks its questions",
            id="no questions",
        ),
        pytest.param(
            lambda: [table("quiz", "questions", group="default")],
            "quiz/questions: its group is 'default', expected one of ('quiz', 'quiz_ablations')",
            id="questions in another group",
        ),
        pytest.param(
            lambda: [*GOOD, table("codis", "images")],
            "codis/images: its key should begin with 'quiz'",
            id="a table of another suite",
        ),
        pytest.param(
            lambda: [*GOOD, table("quiz", "scores")],
            "quiz/scores: the graph itself defines this table",
            id="a table of the right half",
        ),
        pytest.param(
            lambda: [*GOOD, pie],
            "quiz/pie: there is no resource 'oven', only io_manager, models",
            id="a resource that nobody has",
        ),
        pytest.param(
            lambda: [*GOOD, *GOOD[1:]],
            "quiz/source: 2 assets have this key",
            id="one table twice",
        ),
        pytest.param(
            lambda: [*GOOD, bakery],
            "evaluate_quiz: a job has the name of this step",
            id="a step with the name of a job",
        ),
    ],
)
def test_left_out(assets, why):
    good = Suite(name="quiz", tasks=(TASK,), assets=lambda: GOOD)
    there_is = (["io_manager", "models"], ["evaluate_quiz"])
    catalog, loaded = load_suite_assets(Catalog(suites=(good,)), *there_is)
    assert (catalog.names, catalog.problems, loaded) == (("quiz",), (), GOOD)
    bad = Suite(name="quiz", tasks=(TASK,), assets=assets)
    catalog, loaded = load_suite_assets(
        Catalog(suites=(bad,), problems=("an earlier one",)), *there_is
    )
    assert (catalog.names, loaded) == ((), [])
    assert catalog.problems == ("an earlier one", f"suite quiz is left out: {why}")


def test_a_suite_that_is_left_out_is_reported_with_its_origin():
    bad = Suite(name="quiz", tasks=(TASK,), assets=broken)
    catalog, _ = load_suite_assets(Catalog(suites=(bad,), origins={"quiz": "acme 1.0"}), [])
    (problem,) = catalog.problems
    assert problem.startswith("acme 1.0: suite quiz is left out: its assets cannot be loaded: ")
    assert catalog.not_loaded == {"quiz"}
    assert catalog.origins == {"quiz": "acme 1.0"}


def test_a_graph_stands_where_every_suite_is_left_out(tmp_path):
    bad = Suite(name="quiz", tasks=(TASK,), assets=broken)
    graph = build_graph(load_settings(tmp_path), Catalog(suites=(bad,)))
    assert graph.catalog.names == ()
    keys = graph.definitions.resolve_asset_graph().get_all_asset_keys()
    assert dg.AssetKey("leaderboard") in keys
    assert graph.definitions.resolve_job_def("evaluate_checkpoint").name == "evaluate_checkpoint"


def test_copies_in_hidden_files_and_folders_of_a_package_are_no_assets(tmp_path, monkeypatch):
    assets = tmp_path / "hidden_bench" / "assets"
    (assets / ".ipynb_checkpoints").mkdir(parents=True)
    for package in (assets, assets.parent):
        (package / "__init__.py").touch()
    for name in ("a.py", ".ipynb_checkpoints/a-checkpoint.py"):
        (assets / name).write_text("import dagster as dg\n\n@dg.asset\ndef one(): ...\n")
    (assets / "._a.py").write_bytes(b"\x00\x05\x16\x07")  # as macOS writes on other disks
    monkeypatch.syspath_prepend(tmp_path)
    (found,) = load_package_assets(import_module("hidden_bench"))
    assert found.key == dg.AssetKey("one")
