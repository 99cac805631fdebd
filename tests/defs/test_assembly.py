"""Where an asset is shown in the UI: few groups a suite."""

from pathlib import Path

import dagster as dg
import pytest

from bench_assets.asset_factory.suite_assets import GROUP_TAG
from bench_assets.catalog import load_catalog
from bench_assets.defs.assembly import assign_group
from bench_resources.config.bench_toml import Settings
from tests.cases import read_rows

CATALOG = load_catalog(Settings(home=Path("/none")), only={"codis", "journeybench"})


@pytest.mark.parametrize(
    ("key", "stage", "group"),
    read_rows(__file__, "asset_groups.jsonl"),
)
def test_a_suite_has_a_group_for_each_of_its_parts(key: str, stage: str, group: str) -> None:
    spec = dg.AssetSpec(key.split("/"), group_name="codis", tags={"bench/stage": stage})
    shown = assign_group(spec, CATALOG)
    assert (shown.group_name, shown.tags[GROUP_TAG]) == (group, "codis")
    assert shown.owners == [f"team:{key.split('/', maxsplit=1)[0]}"]


def test_the_audit_of_a_suite_is_materialized_together_and_shown_with_its_studies() -> None:
    for task in ("mcot", "captioning"):
        key = ["journeybench", task, "audit"]
        tags = {"bench/stage": "audit"}
        spec = dg.AssetSpec(key, group_name="journeybench_audit", tags=tags)
        shown = assign_group(spec, CATALOG)
        assert shown.group_name == "journeybench_studies"
        assert shown.tags["bench/group"] == "journeybench_audit"
