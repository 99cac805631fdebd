"""The whole graph, from source files to the leaderboard, with models that need no GPU."""

import json
import subprocess
import sys
import tomllib

import dagster as dg
import pytest
import yaml

from bench_assets import definitions as defs_module
from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import BenchError
from bench_assets.definitions import defs
from bench_assets.defs.assembly import build_graph
from bench_assets.defs.tables.leaderboard import MEASURED
from bench_assets.workspace.materialization.asset_selections import (
    condition_inputs,
    dataset_build,
    on_demand,
)
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import Settings, load_settings
from tests.conftest import CHECKOUT
from tests.fakes.codis_release import entries, write_release

HEAVY = (
    "aiohttp",
    "cv2",
    "great_expectations",
    "pandas",
    "sentence_transformers",
    "spacy",
    "torch",
    "transformers",
)


def parents_of(definitions):
    """Every asset and its parents, one line each."""
    graph = definitions.resolve_asset_graph()
    for key in sorted(graph.get_all_asset_keys()):
        parents = sorted(parent.to_user_string() for parent in graph.get(key).parent_keys)
        yield f"{key.to_user_string()} <- {' '.join(parents)}".rstrip() + "\n"


@pytest.fixture(scope="module")
def annotated(tmp_path_factory):
    """The graph of a home that asks people all that the suites have tasks for."""
    home = tmp_path_factory.mktemp("annotated")
    catalog = load_catalog(Settings(home=home))
    tasks = [one.task.name for suite in catalog.suites for one in suite.annotation_tasks]
    (home / "bench.toml").write_text("\n".join(f'[annotation.tasks."{one}"]' for one in tasks))
    return build_graph(load_settings(home), catalog).definitions


def test_graph_is_the_agreed_one(golden, annotated):
    golden("graph.txt", "".join(parents_of(annotated)))


def test_building_a_suite_reads_no_table_that_it_leaves_out():
    graph = defs.resolve_asset_graph()
    for suite in load_catalog().names:
        left_out = on_demand(suite).resolve(graph)
        built = dataset_build(suite).resolve(graph)
        assert not left_out & built
        assert not [key for key in built if graph.get(key).parent_keys & left_out]


@pytest.mark.parametrize(
    ("condition", "needed"),
    [
        pytest.param("main", set(), id="the suite alone"),
        pytest.param("blank_image", {"blank_image/questions"}, id="questions of its own"),
        pytest.param(
            "ocr_for_images",
            {f"ocr_for_images/{table}" for table in ("ocr", "questions", "rejections")},
            id="texts, too",
        ),
    ],
)
def test_a_condition_builds_what_it_needs_alone(condition, needed):
    graph = defs.resolve_asset_graph()
    (task,) = load_catalog().tasks_of("multi")
    selected = condition_inputs(task, condition, graph.get_all_asset_keys())
    assert {"/".join(key.path[1:]) for key in selected.resolve(graph)} == needed


def test_annotation_is_in_the_graph_where_a_task_is_configured(annotated):
    plain = defs.resolve_asset_graph().get_all_asset_keys()
    more = annotated.resolve_asset_graph().get_all_asset_keys() - plain
    assert {key.path[-2] for key in more} == {"annotation"}
    assert all(graph_key.path[-2:-1] != ["annotation"] for graph_key in plain)
    external = [key for key in plain if not defs.resolve_asset_graph().get(key).is_executable]
    assert external == []


def test_the_code_location_loads_with_all_its_jobs():
    written = yaml.safe_load((CHECKOUT / "workspace.yaml").read_text())
    (location,) = written["load_from"]
    assert location["python_module"]["module_name"] == defs_module.__name__
    dg.Definitions.validate_loadable(defs)  # as `dagster definitions validate` does
    jobs = {job.name for job in defs.get_repository_def().get_all_jobs()}
    assert {"multi_questions", "evaluate_codis", "blink_ablations", "evaluate_checkpoint"} <= jobs


@pytest.mark.parametrize("suite", ["blink", "codis", "cogbench", "journeybench", "multi"])
def test_tables_toml_describes_assets_that_exist(suite):
    file = CHECKOUT / "bench_assets" / "suites" / suite / "tables.toml"
    rows = tomllib.loads(file.read_text(encoding="utf-8"))
    graph = defs.resolve_asset_graph()
    known = {key.to_user_string(): graph.get(key) for key in graph.get_all_asset_keys()}
    assert rows.keys() <= known.keys()
    assert [
        key for key, row in rows.items() if not (known[key].description or "").endswith(row)
    ] == []


def test_every_table_says_its_columns_and_what_one_row_is():
    graph = defs.resolve_asset_graph()
    schemas = {
        key.to_user_string(): graph.get(key).metadata.get("dagster/column_schema")
        for key in graph.materializable_asset_keys
    }
    without = {name for name, schema in schemas.items() if schema is None}
    assert without == {"report"}
    schema = schemas["codis/scores"]
    assert schema
    columns = {one.name: one.type for one in schema.columns}
    assert (columns["question_id"], columns["points"]) == ("str", "float | None")
    assert columns["answer"] == "tuple[str, ...]"
    silent = [
        key.to_user_string()
        for key in graph.materializable_asset_keys
        if "row" not in (graph.get(key).description or "").lower()
        and key.to_user_string() != "report"
    ]
    assert silent == []


def test_every_asset_that_asks_models_has_a_pool():
    """So that a backfill over many models does not ask one server, or one GPU, too much at once."""
    ops = {asset.op for asset in defs.resolve_asset_graph().assets_defs if asset.is_executable}
    model_ops = [op for op in ops if "models" in op.required_resource_keys]
    assert len(model_ops) > 20
    assert sorted(op.name for op in model_ops if op.pool not in ("gpu", "judge")) == []


def test_definitions_load_without_the_heavy_libraries():
    code = f"import bench_assets.definitions, sys; print([m for m in {HEAVY} if m in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert loaded.stdout.strip() == "[]"


def recorded(home, name, pairs, wrong=0):
    """Responses that are the gold answers, with those of the first ``wrong`` pairs swapped."""
    lines = []
    for number, pair in enumerate(pairs):
        answers = list(pair["answer"].values())
        for half, text in enumerate(answers[::-1] if number < wrong else answers, 1):
            lines.append({"question_id": f"codis/{pair['id']}/{half}", "text": text})
    (home / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return f'[models.{name}]\nkind = "recorded"\nfile = "{name}.jsonl"\n'


@pytest.mark.parametrize(
    ("n", "edition", "suites"),
    [
        pytest.param(12, "own", ["codis"], id="a part"),
        pytest.param(353, "published", [], id="the whole release", marks=pytest.mark.long),
    ],
)
def test_from_source_files_to_the_leaderboard(tmp_path, n, edition, suites):
    pairs = json.loads((write_release(tmp_path / "codis", entries()[:n]) / "data.json").read_text())
    home = tmp_path / "home"
    home.mkdir()
    (home / "bench.toml").write_text(
        '[sources]\ncodis = "../codis"\n'
        + recorded(home, "perfect", pairs)
        + recorded(home, "four-swapped", pairs, wrong=4)
        + recorded(home, "half-silent", pairs[:6])
    )
    with Workbench(load_settings(home), suites) as bench:
        bench.build_questions("codis")
        bench.evaluate(["codis"], "perfect")
        bench.evaluate(["codis"], "four-swapped")
        rows = f"{2 * (n - 6)} of {2 * n} rows"
        with pytest.raises(BenchError, match=f"{rows} fail the check every_question_answer"):
            bench.evaluate(["codis"], "half-silent")
        bench.refresh_leaderboard()

        assert bench.rows("codis/metrics", "four-swapped")[0].value == (n - 4) / n
        measured = [row for row in bench.rows("leaderboard") if row.source == MEASURED]
        assert [(row.model, row.value, row.n_scored) for row in measured] == [
            ("perfect", 1.0, n),
            ("four-swapped", (n - 4) / n, n),
        ]
        assert {row.edition for row in measured} == {edition}
        printed = {(r.model, r.value) for r in bench.rows("leaderboard") if r.source != MEASURED}
        assert ("GPT-4V", 0.323) in printed
    assert "perfect" in (home / "export" / "leaderboard.csv").read_text()
