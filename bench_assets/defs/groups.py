"""Groups of the Dagster UI: dataset build, evaluation, ablations and studies of each suite.

The tag ``bench/group`` names the group with which an asset is materialized, see ``grouped``.
"""

import dagster as dg

from bench_assets.asset_factory.suite_assets import GROUP, TOGETHER
from bench_assets.catalog import Catalog

_EVALUATION = {"predictions", "judgements", "scores", "metrics", "constants"}
_STUDIES = {"audit", "claims"}
_MANY = 2  # tasks of a suite; with more of them, each dataset build is a group


def laid_out(spec: dg.AssetSpec, catalog: Catalog) -> dg.AssetSpec:
    """Assign an asset to its group; an ablation's description begins with its condition.

    ``codis_dataset``, ``codis_evaluation``, ``codis_ablations``, ``codis_studies``, and
    ``codis_annotation`` if bench.toml names a task. Folded, the graph reads from left to right.
    """
    if spec.group_name in TOGETHER or spec.key.path[0] not in catalog.names:
        return spec
    condition = condition_of(spec.key, catalog)
    said = f"{condition}: {spec.description}" if condition else spec.description
    return spec.replace_attributes(
        group_name=_group(spec, condition, catalog),
        description=said,
        owners=[f"team:{spec.key.path[0]}"],
        tags={**spec.tags, GROUP: str(spec.group_name)},
    )


def condition_of(key: dg.AssetKey, catalog: Catalog) -> str:
    """Condition that a table belongs to; "" if not an ablation."""
    task, condition = "/".join(key.path[:-2]), key.path[-2] if len(key.path) > 1 else ""
    known = {one.name: one.conditions for one in catalog.tasks}
    return condition if condition in known.get(task, ()) else ""


def _group(spec: dg.AssetSpec, condition: str, catalog: Catalog) -> str:
    suite, *_, table = spec.key.path
    stage = spec.tags.get("bench/stage", "")
    if stage == "annotation" and spec.key.path[-2] == "annotation":
        return f"{suite}_annotation"
    if stage in _STUDIES or (stage in _EVALUATION and table not in _EVALUATION):
        return f"{suite}_studies"
    if condition or str(spec.group_name).endswith("_ablations"):
        return f"{suite}_ablations"
    if stage in _EVALUATION:
        return f"{suite}_evaluation"
    tasks = [one.name for one in catalog.tasks if one.suite == suite]
    task = "/".join(spec.key.path[:2])
    return f"{task.replace('/', '_') if len(tasks) > _MANY and task in tasks else suite}_dataset"
