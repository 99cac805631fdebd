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


def asset_spec(*key, group="quiz"):
    return dg.AssetSpec([*key], group_name=group)


@dg.asset(key_prefix="quiz", required_resource_keys={"models", "oven"})
def pie() -> None: ...


@dg.multi_asset(
    name="evaluate_quiz", specs=[asset_spec("quiz", "cake"), asset_spec("quiz", "bread")]
)
def bakery() -> tuple[None, None]:
    return None, None


def failing_import():
    raise ImportError("no module named fridges")


RESOURCES, JOBS = ["io_manager", "models"], ["evaluate_quiz"]
VALID_ASSETS = [asset_spec("quiz", "questions"), asset_spec("quiz", "source", group="images")]


@pytest.mark.parametrize(
    ("assets", "reason"),
    [
        pytest.param(
            failing_import,
            "its assets cannot be loaded: ImportError: no module named fridges",
            id="an import that fails",
        ),
        pytest.param(
            lambda: None,
            "its assets cannot be loaded: TypeError: 'NoneType' object is not iterable",
            id="nothing returned",
        ),
        pytest.param(
            lambda: [*VALID_ASSETS, failing_import],
            f"{failing_import!r} is neither an asset nor an asset check",
            id="a function that was not made an asset",
        ),
        pytest.param(
            lambda: VALID_ASSETS[1:],
            "quiz/questions: there is no such asset; quiz, condition main, asks its questions",
            id="no questions",
        ),
        pytest.param(
            lambda: [asset_spec("quiz", "questions", group="default")],
            "quiz/questions: its group is 'default', expected one of ('quiz', 'quiz_ablations')",
            id="questions in another group",
        ),
        pytest.param(
            lambda: [*VALID_ASSETS, asset_spec("codis", "images")],
            "codis/images: its key should begin with 'quiz'",
            id="a table of another suite",
        ),
        pytest.param(
            lambda: [*VALID_ASSETS, dg.SourceAsset(["codis", "images"])],
            "codis/images: its key should begin with 'quiz'",
            id="a source asset of another suite",
        ),
        pytest.param(
            lambda: [*VALID_ASSETS, asset_spec("quiz", "scores")],
            "quiz/scores: the graph itself defines this table",
            id="a table of the right half",
        ),
        pytest.param(
            lambda: [*VALID_ASSETS, pie],
            "quiz/pie: there is no resource 'oven', only io_manager, models",
            id="a resource that nobody has",
        ),
        pytest.param(
            lambda: [*VALID_ASSETS, *VALID_ASSETS[1:]],
            "quiz/source: 2 assets have this key",
            id="one table twice",
        ),
        pytest.param(
            lambda: [*VALID_ASSETS, bakery],
            "evaluate_quiz: a job has the name of this step",
            id="a step with the name of a job",
        ),
    ],
)
def test_a_suite_with_invalid_assets_is_left_out_with_the_reason(assets, reason):
    suite = Suite(name="quiz", tasks=(TASK,), assets=assets)
    catalog, loaded = load_suite_assets(
        Catalog(suites=(suite,), problems=("an earlier one",)), RESOURCES, JOBS
    )
    assert (catalog.names, loaded) == ((), [])
    assert catalog.problems == ("an earlier one", f"suite quiz is left out: {reason}")


def test_a_suite_with_valid_assets_is_loaded():
    suite = Suite(name="quiz", tasks=(TASK,), assets=lambda: VALID_ASSETS)
    catalog, loaded = load_suite_assets(Catalog(suites=(suite,)), RESOURCES, JOBS)
    assert (catalog.names, catalog.problems, loaded) == (("quiz",), (), VALID_ASSETS)


def test_a_suite_that_is_left_out_is_reported_with_its_origin():
    suite = Suite(name="quiz", tasks=(TASK,), assets=failing_import)
    catalog, _ = load_suite_assets(Catalog(suites=(suite,), origins={"quiz": "acme 1.0"}), [])
    (problem,) = catalog.problems
    assert problem.startswith("acme 1.0: suite quiz is left out: its assets cannot be loaded: ")
    assert catalog.not_loaded == {"quiz"}
    assert catalog.origins == {"quiz": "acme 1.0"}


def test_the_graph_is_built_without_any_suite(tmp_path):
    suite = Suite(name="quiz", tasks=(TASK,), assets=failing_import)
    graph = build_graph(load_settings(tmp_path), Catalog(suites=(suite,)))
    assert graph.catalog.names == ()
    keys = graph.definitions.resolve_asset_graph().get_all_asset_keys()
    assert dg.AssetKey("leaderboard") in keys
    assert graph.definitions.resolve_job_def("evaluate_checkpoint").name == "evaluate_checkpoint"


def test_hidden_files_and_folders_of_a_package_are_not_loaded(tmp_path, monkeypatch):
    package = tmp_path / "hidden_bench"
    (package / "assets" / ".ipynb_checkpoints").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "assets" / "__init__.py").touch()
    for name in ("a.py", ".ipynb_checkpoints/a-checkpoint.py"):
        code = "import dagster as dg\n\n@dg.asset\ndef cake(): ...\n"
        (package / "assets" / name).write_text(code)
    (package / "assets" / "._a.py").write_bytes(b"\x00\x05\x16\x07")  # as macOS writes
    monkeypatch.syspath_prepend(tmp_path)
    (asset,) = load_package_assets(import_module("hidden_bench"))
    assert asset.key == dg.AssetKey("cake")
