"""Dataset builds of the suites, validated against the shared graph.

A suite that fails here is left out, because it would break the graph of all others.

Assets that depend on tasks or annotation tasks only are created once per process, for all homes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, TypeVar

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import answers_key
from bench_assets.asset_factory.evaluation_tables import (
    CONSTANTS,
    audit_key,
    evaluation_key,
    questions_key,
)
from bench_assets.asset_factory.suite_assets import judge_key, raw_data_key, scorer_key, source_key
from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import BenchError
from bench_assets.evaluation.suite import Suite
from bench_assets.plugins import plugin_error_reporting
from bench_sensors.quick_evaluation import quick_evaluation_key

_ASSET_TYPES = dg.AssetsDefinition | dg.AssetSpec | dg.AssetChecksDefinition | dg.SourceAsset


def load_suite_assets(
    catalog: Catalog, resources: Collection[str], jobs: Collection[str] = ()
) -> tuple[Catalog, list[Any]]:
    """Load the assets and asset checks of suites; returns the usable suites with theirs.

    Assets may require these ``resources`` and their own. No step may be named like a job, or like a
    step of another suite.
    """
    loaded: list[Any] = []
    problems: dict[str, str] = {}
    owners = dict.fromkeys(jobs, "a job")
    for suite in catalog.suites:
        try:
            with plugin_error_reporting():
                assets = list(suite.assets())
                steps = _step_names(assets)
                defects = [*_key_defects(suite, assets), *_missing_resources(resources, assets)]
        except BenchError as error:
            problems[suite.name] = f"its assets cannot be loaded: {error}"
            continue
        defects += sorted(
            f"{name}: {owners[name]} has the name of this step" for name in steps & owners.keys()
        )
        if defects:
            problems[suite.name] = "; ".join(defects)
        else:
            loaded += assets
            owners |= dict.fromkeys(steps, suite.name)
    return catalog.without(problems), loaded


def _key_defects(suite: Suite, assets: Sequence[Any]) -> list[str]:
    """Describe missing, invalid and duplicate assets, and those with a wrong key or group."""
    if invalid := [asset for asset in assets if not isinstance(asset, _ASSET_TYPES)]:
        return [f"{invalid[0]!r} is neither an asset nor an asset check"]
    specs = [spec for asset in assets for spec in asset_specs(asset)]
    counts = Counter(spec.key for spec in specs)
    groups = {spec.key: spec.group_name for spec in specs}
    defects = [
        f"{key.to_user_string()}: {n} assets have this key" for key, n in counts.items() if n > 1
    ]
    defects += [
        f"{key.to_user_string()}: its key should begin with {suite.name!r}"
        for key in counts
        if key.path[0] != suite.name
    ]
    overlapping = sorted(counts.keys() & _graph_keys(suite))
    defects += [
        f"{key.to_user_string()}: the graph itself defines this table" for key in overlapping
    ]
    expected = (suite.name, f"{suite.name}_ablations")
    for key, condition in _question_tables(suite).items():
        if key not in groups:
            defects.append(
                f"{key.to_user_string()}: there is no such asset; {condition}, asks its questions"
            )
        elif groups[key] not in expected:
            defects.append(
                f"{key.to_user_string()}: its group is {groups[key]!r}, expected one of {expected}"
            )
    return defects


def _missing_resources(resources: Collection[str], assets: Sequence[Any]) -> list[str]:
    """Name the resources that assets require, but that neither they nor the graph define."""
    available = ", ".join(sorted(resources))
    problems: list[str] = []
    for asset in assets:
        if isinstance(asset, dg.AssetsDefinition):
            missing = asset.required_resource_keys - asset.resource_defs.keys() - {*resources}
            problems += [
                f"{key.to_user_string()}: there is no resource {name!r}, only {available}"
                for name in sorted(missing)
                for key in sorted(asset.keys)
            ]
    return problems


def _step_names(assets: Sequence[Any]) -> set[str]:
    """Names of steps: the key of an asset, or the name of a multi-asset."""
    return {
        asset.node_def.name
        for asset in assets
        if isinstance(asset, dg.AssetsDefinition) and asset.is_executable
    }


def _graph_keys(suite: Suite) -> set[dg.AssetKey]:
    """Keys of a suite's assets that the graph defines; tasks of encoders define their own."""
    model_tasks = [task for task in suite.tasks if task.asked_of == "model"]
    return {
        *map(quick_evaluation_key, model_tasks),
        *(answers_key(task) for task in suite.annotation_tasks),
        *map(audit_key, model_tasks),
        *(key(suite.name) for key in (source_key, judge_key, scorer_key)),
        *([raw_data_key(suite.name)] if suite.raw_data else []),
        *(
            dg.AssetKey(evaluation_key(task, condition, table))
            for task in model_tasks
            for condition in task.conditions
            for table in (CONSTANTS, "predictions", "judgements", "scores", "metrics")
        ),
    }


def _question_tables(suite: Suite) -> dict[dg.AssetKey, str]:
    """Question tables of a suite, each with its task and condition for messages."""
    return {
        dg.AssetKey(questions_key(task, condition)): f"{task.name}, condition {condition}"
        for task in suite.tasks
        for condition in task.conditions
    }


def asset_specs(asset: object) -> list[dg.AssetSpec]:
    """Specs of an asset, a multi-asset or a source asset; none of an asset check."""
    if isinstance(asset, dg.AssetSpec):
        return [asset]
    if isinstance(asset, dg.SourceAsset):
        return [dg.AssetSpec(asset.key, group_name=asset.group_name)]
    return list(asset.specs) if isinstance(asset, dg.AssetsDefinition) else []


Made = TypeVar("Made")

_MAX_CACHED = 1000  # entries of a cache: more than all shipped and installed tasks

_cached: dict[tuple[Hashable, ...], tuple[Sequence[object], object]] = {}


def memoize(make: Callable[..., Made], *arguments: object) -> Made:
    """Return ``make(*arguments)``, from a cache if the arguments are the same objects.

    They are kept with their result, because a memory address may be reused.
    """
    key = (make, *map(id, arguments))
    if key not in _cached:
        if len(_cached) >= _MAX_CACHED:
            _cached.clear()
        _cached[key] = arguments, make(*arguments)
    _, result = _cached[key]
    value: Made = result  # type: ignore[assignment]  # ``make`` is part of the key
    return value
