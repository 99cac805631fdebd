import dagster as dg
import pytest

from bench_assets.asset_factory.suite_assets import NEEDS_KEY, range_tags, raw_data_parts
from bench_assets.definitions import defs
from bench_assets.suites.blink.assets.studies import human_score
from bench_assets.suites.blink.suite import SUITE as BLINK
from bench_assets.suites.codis.suite import SUITE as CODIS
from bench_assets.suites.cogbench.assets.vqa import human
from bench_assets.suites.cogbench.suite import SUITE as COGBENCH
from bench_assets.suites.journeybench.suite import SUITE as JOURNEYBENCH
from bench_assets.suites.multi.suite import SUITE as MULTI


@pytest.mark.parametrize("study", [human, human_score])
def test_a_study_that_may_be_empty_names_what_it_needs(study):
    assert "the annotation task" in study.metadata_by_key[study.key][NEEDS_KEY]


# Conditions with their own questions that never lack one.
COMPLETE_CONDITIONS = {("multi", "blank_image")}


def test_all_other_conditions_with_own_questions_name_what_they_need():
    tasks = [*BLINK.tasks, *CODIS.tasks, *COGBENCH.tasks, *JOURNEYBENCH.tasks, *MULTI.tasks]
    without_needs = {
        (task.name, name)
        for task in tasks
        for name, condition in task.conditions.items()
        if condition.own_questions and "it needs " not in condition.needs
    }
    assert without_needs == COMPLETE_CONDITIONS


def test_a_run_over_raw_data_sets_is_tagged_with_the_first_and_the_last():
    graph = defs.resolve_asset_graph()
    questions, proposals = (dg.AssetKey(["blink", name]) for name in ("questions", "proposals"))
    assert range_tags(raw_data_parts(graph, [questions, proposals])) == {
        "dagster/asset_partition_range_start": "Art_Style",
        "dagster/asset_partition_range_end": "Visual_Similarity",
    }
    assert range_tags(raw_data_parts(graph, [questions])) == {}
