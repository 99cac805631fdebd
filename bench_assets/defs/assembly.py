"""Assembly of the whole graph: suites, evaluations, checks, jobs, sensors; groups of the UI."""

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import answers_key
from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.asset_factory.suite_assets import (
    GROUP_TAG,
    HOME_TEAM,
    JOINT_GROUPS,
    range_tags,
    select_group,
)
from bench_assets.catalog import Catalog
from bench_assets.defs.checks.expectations import source_checks, validation_check
from bench_assets.defs.checks.regression import regression_checks
from bench_assets.defs.checks.table_checks import task_checks
from bench_assets.defs.code_versions import code_versions
from bench_assets.defs.observed_inputs import (
    BUILD_STAGES,
    input_assets,
    observe_inputs,
    observing_io_manager,
    with_source,
)
from bench_assets.defs.suite_datasets import asset_specs, load_suite_assets, memoize
from bench_assets.defs.tables.annotation import annotation_assets
from bench_assets.defs.tables.leaderboard import leaderboard_assets
from bench_assets.defs.tables.report import report_asset
from bench_assets.evaluation.suite import Suite
from bench_assets.evaluation.task import Task
from bench_assets.features import hooks_of
from bench_resources.config.bench_toml import Settings
from bench_resources.config.settings_resource import HomeSettings
from bench_resources.datasets.source_files import HomeTables, SourceFiles
from bench_resources.images.store import open_image_store
from bench_resources.models.registry.opening import Models
from bench_resources.tables.asset_types import column_schemas
from bench_resources.tables.parquet import TableFiles
from bench_sensors.annotation import annotation_sensors
from bench_sensors.changes import change_sensors, with_automation
from bench_sensors.checkpoints import checkpoint_sensor
from bench_sensors.configuration import model_sensor, observation_sensor
from bench_sensors.evaluations import EVALUATION_JOB, suite_tables
from bench_sensors.orphaned_runs import orphaned_run_sensors
from bench_sensors.quick_evaluation import QUICK_EVALUATION, quick_evaluation_assets
from bench_sensors.run_history import run_history_sensor
from bench_sensors.webhook import webhook_sensor

_EVALUATION = {"predictions", "judgements", "scores", "metrics", "constants"}
_SOURCES = {"settings", "sources"}  # resources with what no asset makes
_MAX_JOINT_TASKS = 2  # tasks of a suite; if there are more, each dataset build is a group


def assign_group(spec: dg.AssetSpec, catalog: Catalog) -> dg.AssetSpec:
    """Assign an asset to its owners and its group, such as ``codis_dataset``.

    An ablation's description begins with its condition.
    """
    if spec.key.path[0] not in catalog.names:
        return spec.replace_attributes(owners=[*spec.owners] or [HOME_TEAM])
    owners = [f"team:{spec.key.path[0]}"]
    if spec.group_name in JOINT_GROUPS:
        return spec.replace_attributes(owners=owners)
    condition = condition_of(spec.key, catalog)
    description = f"{condition}: {spec.description}" if condition else spec.description
    return spec.replace_attributes(
        group_name=_group_name(spec, condition, catalog),
        description=description,
        owners=owners,
        tags={**spec.tags, GROUP_TAG: str(spec.group_name)},
    )


def condition_of(key: dg.AssetKey, catalog: Catalog) -> str:
    """Condition that a table belongs to; "" if not an ablation."""
    if len(key.path) < 2:
        return ""
    *task_path, condition, _ = key.path
    conditions = {task.name: task.conditions for task in catalog.tasks}
    return condition if condition in conditions.get("/".join(task_path), ()) else ""


def _group_name(spec: dg.AssetSpec, condition: str, catalog: Catalog) -> str:
    suite, *_, table = spec.key.path
    stage = spec.tags.get("bench/stage", "")
    if stage == "annotation" and spec.key.path[-2] == "annotation":
        return f"{suite}_annotation"
    if stage == "audit" or (stage in _EVALUATION and table not in _EVALUATION):
        return f"{suite}_studies"
    if condition or str(spec.group_name).endswith("_ablations"):
        return f"{suite}_ablations"
    if stage in _EVALUATION:
        return f"{suite}_evaluation"
    tasks = [task.name for task in catalog.tasks if task.suite == suite]
    task = "/".join(spec.key.path[:2])
    if len(tasks) > _MAX_JOINT_TASKS and task in tasks:
        return f"{task.replace('/', '_')}_dataset"
    return f"{suite}_dataset"


class Graph(NamedTuple):
    """The definitions, and the suites they contain."""

    definitions: dg.Definitions
    catalog: Catalog


def build_graph(
    settings: Settings,
    catalog: Catalog,
    tables: TableFiles | None = None,
    models: Models | None = None,
) -> Graph:
    """Build the graph over one home folder; silences some of Dagster's warnings.

    With ``models`` of a command, runs have its settings; by default, every run reads bench.toml
    anew. ``tables`` replace those of the home at the start of a run.
    """
    # Partitioned checks and data versions are beta; constraints.txt pins the tested version.
    warnings.simplefilter("ignore", dg.BetaWarning)
    warnings.simplefilter("ignore", dg.PreviewWarning)
    warnings.filterwarnings("ignore", "Property `OpDefinition.version`", DeprecationWarning)
    resources = _resources(settings, catalog, tables, models)
    job_names = [job.name for job in _suite_jobs(catalog)]
    catalog, suite_assets = load_suite_assets(
        catalog, resources.keys(), [*job_names, QUICK_EVALUATION, EVALUATION_JOB]
    )
    evaluable = catalog.evaluable
    configured = settings.annotation.tasks.keys()
    assets = _assets(suite_assets, catalog, configured)
    is_of_command = models is not None
    definitions = dg.Definitions(
        assets=assets,
        asset_checks=_checks(suite_assets, evaluable, is_of_command=is_of_command),
        # In process: a spawned step could not share loaded weights.
        executor=dg.in_process_executor,
        resources=resources,
    ).map_asset_specs(
        func=_complete_spec_with(
            assets,
            catalog,
            _inactive_answers(catalog, configured),
            code_versions(settings.home, catalog.suites),
        )
    )
    # Input assets are added here, because Dagster maps no specs of observed assets.
    parts = [definitions, dg.Definitions(assets=input_assets(catalog))]
    if not is_of_command:
        parts.append(_jobs_and_sensors(settings, catalog, assets))
    return Graph(dg.Definitions.merge(*parts), catalog)


def _jobs_and_sensors(
    settings: Settings, catalog: Catalog, assets: Sequence[Any]
) -> dg.Definitions:
    """Jobs and sensors of the UI and the daemon; a command starts its runs itself."""
    evaluable = catalog.evaluable
    checkpoint_jobs = _checkpoint_jobs(evaluable.names)
    return dg.Definitions(
        jobs=[*_suite_jobs(catalog), *checkpoint_jobs],
        sensors=[
            checkpoint_sensor(checkpoint_jobs, evaluable.suites),
            *change_sensors(spec for asset in assets for spec in asset_specs(asset)),
            observation_sensor(partial(observe_inputs, catalog)),
            webhook_sensor(evaluable.suites),
            model_sensor(),
            *orphaned_run_sensors(settings),
            run_history_sensor(),
            *annotation_sensors(settings, catalog.suites),
        ],
    )


def _assets(
    suite_assets: Sequence[Any], catalog: Catalog, active_tasks: Collection[str]
) -> list[Any]:
    """All assets; ``active_tasks`` are names of annotation tasks."""
    assets = [asset for asset in suite_assets if not isinstance(asset, dg.AssetChecksDefinition)]
    for task in catalog.evaluable.tasks:
        if task.asked_of == "model":  # tasks of encoders define their own assets
            assets += memoize(_task_assets, task)
    for suite in catalog.suites:
        for annotation_task in suite.active_annotation_tasks(active_tasks):
            assets.append(memoize(annotation_assets, annotation_task))
    assets += quick_evaluation_assets(catalog.evaluable.tasks)
    for make_assets in hooks_of("assets"):
        assets += make_assets(catalog)
    return [*assets, *leaderboard_assets(catalog), report_asset(catalog)]


def _inactive_answers(catalog: Catalog, configured: Collection[str]) -> frozenset[dg.AssetKey]:
    """Tables of answers of inactive annotation tasks, which no asset produces."""
    return frozenset(
        answers_key(task)
        for suite in catalog.suites
        for task in suite.every_annotation_task
        if task.task.name not in configured
    )


def _complete_spec_with(
    assets: Iterable[Any],
    catalog: Catalog,
    absent: Collection[dg.AssetKey],
    versions: Mapping[str, str],
) -> Callable[[dg.AssetSpec], dg.AssetSpec]:
    """A function that sets an asset's group, columns, automation, inputs and code version.

    Dependencies on ``absent`` tables are dropped. ``versions`` are code versions of the suites'
    dataset builds, and of the leaderboard ("").
    """
    executable = [
        asset for asset in assets if isinstance(asset, dg.AssetsDefinition) and asset.is_executable
    ]
    columns = {
        key: {"dagster/column_schema": schema}
        for asset in executable
        for key, schema in column_schemas(asset).items()
    }
    configured = {
        spec.key
        for asset in executable
        if asset.required_resource_keys & _SOURCES and not asset.partitions_def
        for spec in asset.specs
        if spec.tags.get("bench/stage") != "annotation"  # answers have versions of their own
    }

    def complete(spec: dg.AssetSpec) -> dg.AssetSpec:
        deps = [dep for dep in spec.deps if dep.asset_key not in absent]
        connected = with_source(spec.replace_attributes(deps=deps), catalog.names, configured)
        versioned = _add_code_version(connected, versions)
        grouped = assign_group(with_automation(versioned), catalog)
        return grouped.merge_attributes(metadata=columns.get(spec.key, {}))

    return complete


def _add_code_version(spec: dg.AssetSpec, versions: Mapping[str, str]) -> dg.AssetSpec:
    """Add the digest of the code to the version; evaluations have versions raised by hand."""
    stage = spec.tags.get("bench/stage")
    if stage in BUILD_STAGES and "bench/per" not in spec.tags:
        version = versions.get(spec.key.path[0], "")
    elif spec.group_name == "leaderboard" and stage != "observed":
        version = versions.get("", "")
    else:
        version = ""
    if not version:
        return spec
    return spec.replace_attributes(
        code_version="+".join(filter(None, [spec.code_version, version]))
    )


def _checks(
    suite_assets: Sequence[Any], catalog: Catalog, *, is_of_command: bool
) -> list[dg.AssetChecksDefinition]:
    tasks = catalog.tasks
    make_checks = _command_task_checks if is_of_command else _validated_task_checks
    checks = [check for check in suite_assets if isinstance(check, dg.AssetChecksDefinition)]
    for suite in catalog.suites:
        for task in suite.tasks:
            checks += memoize(make_checks, task, suite.expectations)
    for task in tasks:
        checks += memoize(regression_checks, task, *tasks)
    return [*checks, *source_checks(suite_assets)]


def _validated_task_checks(task: Task, expectations: Path | None) -> list[dg.AssetChecksDefinition]:
    return task_checks(task, validation_check(task.name, expectations))


def _command_task_checks(task: Task, _: Path | None) -> list[dg.AssetChecksDefinition]:
    return task_checks(task)  # without Great Expectations, whose import takes seconds


def _task_assets(task: Task) -> list[dg.AssetsDefinition]:
    return [asset for condition in task.conditions for asset in evaluation_assets(task, condition)]


def _resources(
    settings: Settings, catalog: Catalog, tables: TableFiles | None, models: Models | None
) -> dict[str, object]:
    """Resources by name; a command's settings and models are the objects that it has."""
    image_store = open_image_store(settings)
    home_settings = settings if models else HomeSettings(home=str(settings.home))
    table_files = tables or HomeTables(settings=home_settings)
    resources: dict[str, object] = {
        "settings": home_settings,
        "sources": SourceFiles(settings=home_settings),
        "image_store": image_store,
        "tables": table_files,
        "io_manager": observing_io_manager(catalog, files=table_files, settings=home_settings),
    }
    if models:
        # Dagster would create its own objects from resources that are not hard-coded.
        resources["settings"] = dg.ResourceDefinition.hardcoded_resource(settings)
        resources["models"] = dg.ResourceDefinition.hardcoded_resource(models)
    else:
        resources["models"] = Models(settings=home_settings, image_store=image_store)
    return resources


def _suite_jobs(catalog: Catalog) -> list[Any]:
    """Jobs of the suites of packages; with jobs of many file benchmarks, loading would be slow."""
    suites = [suite for suite in catalog.evaluable.suites if suite.code]
    return [job for suite in suites for job in _jobs_of_suite(suite)]


def _jobs_of_suite(suite: Suite) -> list[Any]:
    name = suite.name
    main = select_group(name)
    ablations = select_group(f"{name}_ablations")
    per_model = dg.AssetSelection.tag("bench/per", "model")
    return [
        dg.define_asset_job(
            f"{name}_questions",
            selection=main - per_model - dg.AssetSelection.tag("bench/when", "asked"),
            description=f"Build the question tables of {name} from its source.",
            # Without a chosen partition, questions are built of all raw data sets.
            tags=range_tags([*suite.raw_data.folders]) if suite.raw_data else None,
        ),
        dg.define_asset_job(
            f"{name}_ablation_questions",
            selection=ablations - per_model,
            description=f"Build the question tables of the ablations of {name}.",
        ),
        dg.define_asset_job(
            f"evaluate_{name}",
            selection=suite_tables(name),
            description=f"Evaluate one model on {name}: predictions, judgements, scores, metrics.",
        ),
        dg.define_asset_job(
            f"{name}_ablations",
            selection=ablations & per_model,
            description=f"The ablations and studies of {name} for one model.",
        ),
        dg.define_asset_job(
            f"{name}_audit",
            selection=select_group(f"{name}_audit"),
            description=f"Audit {name} from the existing tables.",
        ),
    ]


def _checkpoint_jobs(suites: Sequence[str]) -> list[Any]:
    return [
        dg.define_asset_job(
            QUICK_EVALUATION,
            selection=select_group(QUICK_EVALUATION),
            description="Evaluate one model on a few questions of every task.",
        ),
        dg.define_asset_job(
            EVALUATION_JOB,
            selection=suite_tables(*suites),
            description="Evaluate one model on every suite; its weights are loaded once.",
        ),
    ]
