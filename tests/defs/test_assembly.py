"""Where an asset is shown in the UI: few groups a suite."""

from pathlib import Path

import dagster as dg
import pytest

from bench_assets.asset_factory.suite_assets import GROUP_TAG
from bench_assets.catalog import load_catalog
from bench_assets.defs.assembly import assign_group
from bench_resources.config.bench_toml import Settings

CATALOG = load_catalog(Settings(home=Path("/none")), only={"codis", "journeybench"})


@pytest.mark.parametrize(
    ("key", "stage", "group"),
    [
        ("codis/votes", "select", "codis_dataset"),
        ("codis/annotation/votes_units", "annotation", "codis_annotation"),
        (
            "codis/annotation/revision_votes_answers",
            "annotation",
            "codis_annotation",
        ),
        ("journeybench/filter_votes", "annotation", "journeybench_dataset"),
        ("codis/questions", "questions", "codis_dataset"),
        ("codis/predictions", "predictions", "codis_evaluation"),
        ("codis/constants", "constants", "codis_evaluation"),
        ("codis/no_context/predictions", "predictions", "codis_ablations"),
        ("codis/captions_for_images/questions", "questions", "codis_ablations"),
        ("codis/word_bias", "metrics", "codis_studies"),
        ("journeybench/mcot/problems", "source", "journeybench_mcot_dataset"),
        ("journeybench/dialogues", "distractors", "journeybench_dataset"),
        ("journeybench/mcot/metrics", "metrics", "journeybench_evaluation"),
    ],
)
def test_a_suite_has_a_group_for_each_of_its_parts(key: str, stage: str, group: str) -> None:
    spec = dg.AssetSpec(key.split("/"), group_name="codis", tags={"bench/stage": stage})
    shown = assign_group(spec, CATALOG)
    assert (shown.group_name, shown.tags[GROUP_TAG]) == (group, "codis")
    assert shown.owners == [f"team:{key.split('/', maxsplit=1)[0]}"]


def test_a_condition_stands_before_what_a_table_says() -> None:
    spec = dg.AssetSpec(["codis", "no_context", "scores"], description="One row: ...")
    assert assign_group(spec, CATALOG).description == "no_context: One row: ..."


def test_the_audit_of_a_suite_is_materialized_together_and_shown_with_its_studies() -> None:
    for task in ("mcot", "captioning"):
        key = ["journeybench", task, "audit"]
        tags = {"bench/stage": "audit"}
        spec = dg.AssetSpec(key, group_name="journeybench_audit", tags=tags)
        shown = assign_group(spec, CATALOG)
        assert shown.group_name == "journeybench_studies"
        assert shown.tags["bench/group"] == "journeybench_audit"


@pytest.mark.parametrize("key", ["leaderboard", "codis/quick_evaluation"])
def test_what_gathers_all_suites_stays_together(key: str) -> None:
    group = key.rsplit("/", maxsplit=1)[-1]
    spec = dg.AssetSpec(key.split("/"), group_name=group)
    assert assign_group(spec, CATALOG) == spec
