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
    """Yield a line for each asset, with its parents."""
    graph = definitions.resolve_asset_graph()
    for key in sorted(graph.get_all_asset_keys()):
        parents = sorted(parent.to_user_string() for parent in graph.get(key).parent_keys)
        yield f"{key.to_user_string()} <- {' '.join(parents)}".rstrip() + "\n"


@pytest.fixture(scope="module")
def annotated_definitions(tmp_path_factory):
    """The graph of a home in which all annotation tasks of the suites are configured."""
    home = tmp_path_factory.mktemp("annotated")
    catalog = load_catalog(Settings(home=home))
    tasks = [plan.task.name for suite in catalog.suites for plan in suite.annotation_tasks]
    (home / "bench.toml").write_text("\n".join(f'[annotation.tasks."{name}"]' for name in tasks))
    return build_graph(load_settings(home), catalog).definitions


def test_the_graph_is_that_of_the_golden_file(golden, annotated_definitions):
    golden("graph.txt", "".join(parents_of(annotated_definitions)))


@pytest.mark.parametrize("suite", load_catalog().names)
def test_building_a_suite_reads_no_table_that_is_built_on_demand(suite):
    graph = defs.resolve_asset_graph()
    on_demand_keys = on_demand(suite).resolve(graph)
    built_keys = dataset_build(suite).resolve(graph)
    assert built_keys
    assert not on_demand_keys & built_keys
    assert not [key for key in built_keys if graph.get(key).parent_keys & on_demand_keys]


@pytest.mark.parametrize(
    ("condition", "expected_tables"),
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
def test_a_condition_builds_the_tables_that_it_needs_alone(condition, expected_tables):
    graph = defs.resolve_asset_graph()
    (task,) = load_catalog().tasks_of("multi")
    selected = condition_inputs(task, condition, graph.get_all_asset_keys())
    assert {"/".join(key.path[1:]) for key in selected.resolve(graph)} == expected_tables


def test_annotation_is_in_the_graph_where_a_task_is_configured(annotated_definitions):
    graph = defs.resolve_asset_graph()
    plain_keys = graph.get_all_asset_keys()
    added_keys = annotated_definitions.resolve_asset_graph().get_all_asset_keys() - plain_keys
    assert {key.path[-2] for key in added_keys} == {"annotation"}
    assert not [key for key in plain_keys if "annotation" in key.path[:-1]]
    assert [key for key in plain_keys if not graph.get(key).is_executable] == []


def test_the_code_location_loads_with_jobs_of_suites_and_checkpoints():
    (location,) = yaml.safe_load((CHECKOUT / "workspace.yaml").read_text())["load_from"]
    assert location["python_module"]["module_name"] == defs_module.__name__
    dg.Definitions.validate_loadable(defs)  # as `dagster definitions validate` does
    jobs = {job.name for job in defs.get_repository_def().get_all_jobs()}
    assert {"multi_questions", "evaluate_codis", "blink_ablations", "evaluate_checkpoint"} <= jobs


@pytest.mark.parametrize("suite", ["blink", "codis", "cogbench", "journeybench", "multi"])
def test_tables_toml_describes_assets_that_exist(suite):
    file = CHECKOUT / "bench_assets" / "suites" / suite / "tables.toml"
    row_descriptions = tomllib.loads(file.read_text(encoding="utf-8"))
    graph = defs.resolve_asset_graph()
    for name, row_description in row_descriptions.items():
        description = graph.get(dg.AssetKey.from_user_string(name)).description
        assert (description or "").endswith(row_description), name


def test_every_table_has_a_column_schema():
    graph = defs.resolve_asset_graph()
    schemas = {
        key.to_user_string(): graph.get(key).metadata.get("dagster/column_schema")
        for key in graph.materializable_asset_keys
    }
    assert [name for name, schema in schemas.items() if schema is None] == ["report"]


def test_a_column_schema_has_the_types_of_the_fields_of_a_row():
    schema = defs.resolve_asset_graph().get(dg.AssetKey(["codis", "scores"])).metadata
    columns = {column.name: column.type for column in schema["dagster/column_schema"].columns}
    assert columns["question_id"] == "str"
    assert columns["points"] == "float | None"
    assert columns["answer"] == "tuple[str, ...]"


def test_every_table_describes_its_rows():
    graph = defs.resolve_asset_graph()
    undescribed = {
        key.to_user_string()
        for key in graph.materializable_asset_keys
        if "row" not in (graph.get(key).description or "").lower()
    }
    assert undescribed == {"report"}  # which is no table


def test_every_asset_that_asks_models_has_a_pool():
    """A backfill over many models must not overload one server or one GPU."""
    ops = {asset.op for asset in defs.resolve_asset_graph().assets_defs if asset.is_executable}
    model_ops = [op for op in ops if "models" in op.required_resource_keys]
    assert len(model_ops) > 20
    assert sorted(op.name for op in model_ops if op.pool not in ("gpu", "judge")) == []


def test_definitions_load_without_the_heavy_libraries():
    code = f"import bench_assets.definitions, sys; print([m for m in {HEAVY} if m in sys.modules])"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert result.stdout.strip() == "[]"


def write_recorded_model(home, name, pairs, n_swapped=0):
    """Write the gold answers as responses, swapped in the first pairs; returns the section."""
    responses = []
    for pair_index, pair in enumerate(pairs):
        first, second = pair["answer"].values()
        if pair_index < n_swapped:
            first, second = second, first
        responses.append({"question_id": f"codis/{pair['id']}/1", "text": first})
        responses.append({"question_id": f"codis/{pair['id']}/2", "text": second})
    (home / f"{name}.jsonl").write_text("\n".join(map(json.dumps, responses)))
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
        + write_recorded_model(home, "perfect", pairs)
        + write_recorded_model(home, "four-swapped", pairs, n_swapped=4)
        + write_recorded_model(home, "half-silent", pairs[:6])
    )
    with Workbench(load_settings(home), suites) as bench:
        bench.build_questions("codis")
        bench.evaluate(["codis"], "perfect")
        bench.evaluate(["codis"], "four-swapped")
        message = f"{2 * (n - 6)} of {2 * n} rows fail the check every_question_answer"
        with pytest.raises(BenchError, match=message):
            bench.evaluate(["codis"], "half-silent")
        bench.refresh_leaderboard()

        acc_p, *_ = bench.rows("codis/metrics", "four-swapped")
        assert acc_p.value == (n - 4) / n
        measured = [row for row in bench.rows("leaderboard") if row.source == MEASURED]
        assert [(row.model, row.value, row.n_scored) for row in measured] == [
            ("perfect", 1.0, n),
            ("four-swapped", (n - 4) / n, n),
        ]
        assert {row.edition for row in measured} == {edition}
        published = [row for row in bench.rows("leaderboard") if row.source != MEASURED]
        # CODIS, Table 3
        assert ("GPT-4V", 0.323) in {(row.model, row.value) for row in published}
    assert "perfect" in (home / "export" / "leaderboard.csv").read_text()
