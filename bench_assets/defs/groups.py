"""Groups of the Dagster UI: one per task and stage.

What is made together goes by other groups, those of ``staging``: the tag ``bench/group`` has them.
"""

import dagster as dg

from bench_assets.asset_factory.suite_assets import GROUP, TOGETHER
from bench_assets.catalog import Catalog

_ANSWERED = {"predictions", "judgements", "scores", "metrics", "constants"}
_RAW = {"source", "images", "select"}


def laid_out(spec: dg.AssetSpec, catalog: Catalog) -> dg.AssetSpec:
    """Put an asset into the group that it is shown in, with its condition before what it says.

    ``codis_source``, ``codis_questions``, ``codis_main``, ``codis_no_context``, ``codis_studies``:
    folded, the graph reads from left to right.
    """
    if spec.group_name in TOGETHER or spec.key.path[0] not in catalog.names:
        return spec
    condition = condition_of(spec.key, catalog)
    said = f"{condition}: {spec.description}" if condition else spec.description
    return spec.replace_attributes(
        group_name=_group(spec, condition),
        description=said,
        owners=[f"team:{spec.key.path[0]}"],
        tags={**spec.tags, GROUP: str(spec.group_name)},
    )


def condition_of(key: dg.AssetKey, catalog: Catalog) -> str:
    """The condition that a table belongs to; "" if it is no ablation's."""
    task, condition = "/".join(key.path[:-2]), key.path[-2] if len(key.path) > 1 else ""
    known = {one.name: one.conditions for one in catalog.tasks}
    return condition if condition in known.get(task, ()) else ""


def _group(spec: dg.AssetSpec, condition: str) -> str:
    place, table = "_".join(spec.key.path[:-1]), spec.key.path[-1]
    stage = spec.tags.get("bench/stage", "")
    if (
        stage == "annotation"
    ):  # a group for each annotation task, and one of what is made of answers
        task = table.rpartition("_")[0]
        return f"{place}_{task if spec.key.path[-2] == 'annotation' else 'votes'}"
    if stage == "audit":
        return f"{place}_audit"
    if condition:
        return place
    if stage == "claims":
        return f"{place}_studies"
    if stage in _ANSWERED:
        return f"{place}_{'main' if table in _ANSWERED else 'studies'}"
    return f"{place}_{'source' if stage in _RAW else 'questions'}"
