import dagster as dg
import pytest

from bench_assets.core.schema.rows import Question
from bench_assets.workspace.maintain.blob_verification import verify_images
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.rows import question

MAIN = ("blink", "questions")
OF_CONDITION = ("blink", "concatenated_images", "questions")
SHARED, SIDE_BY_SIDE, OLD = "a" * 64, "b" * 64, "c" * 64  # images that are not stored


@pytest.fixture
def bench(tmp_path):
    """A home whose question tables name images that are not stored."""
    with Workbench(load_settings(tmp_path), ["blink"]) as workbench:
        tables = workbench.tables
        tables.write(MAIN, [question(images=(SHARED,))], Question)
        tables.write(OF_CONDITION, [question(images=(SHARED, SIDE_BY_SIDE))], Question)
        other_source = tables.model_copy(update={"places": {"blink": ".of/other-1"}})
        other_source.write(MAIN, [question(images=(OLD,))], Question)
        yield workbench


def test_the_command_for_an_image_builds_a_table_that_names_it(bench):
    commands = {finding.what: finding.command for finding in verify_images(bench)}
    assert commands == {
        f"image {SHARED}": "bench tables questions blink",
        f"image {SIDE_BY_SIDE}": (
            "bench evaluate blink --condition concatenated_images --model MODEL"
        ),
        f"image {OLD}": "bench tables questions blink --source SOURCE",
    }


def test_a_table_with_missing_images_becomes_stale(bench):
    key = dg.AssetKey(OF_CONDITION)
    bench.instance.report_runless_asset_event(dg.AssetMaterialization(key))
    list(verify_images(bench))
    event = bench.instance.get_latest_materialization_event(key)
    assert event.asset_materialization.description == "Its images are damaged."
