from pathlib import Path

import dagster as dg
import pytest

from bench_assets.asset_factory.suite_assets import GROUP_TAG
from bench_assets.catalog import load_catalog
from bench_assets.defs.assembly import assign_group
from bench_resources.config.bench_toml import Settings
from tests.cases import read_rows

CATALOG = load_catalog(Settings(home=Path("/none")), only={"codis", "journeybench"})


@pytest.mark.parametrize(("key", "stage", "group"), read_rows(__file__, "asset_groups.jsonl"))
def test_an_asset_is_in_the_group_of_its_suite_and_stage(key: str, stage: str, group: str) -> None:
    spec = dg.AssetSpec(key.split("/"), group_name="codis", tags={"bench/stage": stage})
    assigned = assign_group(spec, CATALOG)
    assert (assigned.group_name, assigned.tags[GROUP_TAG]) == (group, "codis")
    assert assigned.owners == [f"team:{key.split('/', maxsplit=1)[0]}"]


@pytest.mark.parametrize("task", ["mcot", "captioning"])
def test_audits_of_a_suite_have_a_common_tag_and_the_group_of_its_studies(task: str) -> None:
    key, tags = ["journeybench", task, "audit"], {"bench/stage": "audit"}
    spec = dg.AssetSpec(key, group_name="journeybench_audit", tags=tags)
    assigned = assign_group(spec, CATALOG)
    assert assigned.group_name == "journeybench_studies"
    assert assigned.tags["bench/group"] == "journeybench_audit"
