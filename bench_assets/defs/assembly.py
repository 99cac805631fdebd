"""Assembly of the whole graph: suites, evaluations, checks, jobs, sensors; groups of the UI."""

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

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
from bench_assets.defs.suite_datasets import load_suite_assets, memoize
from bench_assets.defs.tables.annotation import annotation_assets
from bench_assets.defs.tables.leaderboard import leaderboard_assets
from bench_assets.defs.tables.report import report_asset
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
_MAX_JOINT_TASKS = 2  # tasks of a suite; with more of them, each dataset build is a group


def assign_group(spec: dg.AssetSpec, catalog: Catalog) -> dg.AssetSpec:
    """Assign an asset to its group; an ablation's description begins with its condition.

    ``codis_dataset``, ``codis_evaluation``, ``codis_ablations``, ``codis_studies``, and
    ``codis_annotation`` if bench.toml names a task. Folded, the graph reads from left to right.
    """
    if spec.key.path[0] not in catalog.names:
        return spec.replace_attributes(owners=[*spec.owners] or [HOME_TEAM])
    owners = [f"team:{spec.key.path[0]}"]
    if spec.group_name in JOINT_GROUPS:
        return spec.replace_attributes(owners=owners)
    condition = condition_of(spec.key, catalog)
    description = f"{condition}: {spec.description}" if condition else spec.description
    return spec.replace_attributes(
        group_name=_group(spec, condition, catalog),
        description=description,
        owners=owners,
        tags={**spec.tags, GROUP_TAG: str(spec.group_name)},
    )


def condition_of(key: dg.AssetKey, catalog: Catalog) -> str:
    """Condition that a table belongs to; "" if not an ablation."""
    task, condition = "/".join(key.path[:-2]), key.path[-2] if len(key.path) > 1 else ""
    known = {task.name: task.conditions for task in catalog.tasks}
    return condition if condition in known.get(task, ()) else ""


def _group(spec: dg.AssetSpec, condition: str, catalog: Catalog) -> str:
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
    is_separate = len(tasks) > _MAX_JOINT_TASKS and task in tasks
    return f"{task.replace('/', '_') if is_separate else suite}_dataset"


_Job: TypeAlias = tuple[str, dg.AssetSelection, str]  # name, selection, description


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
    """Build the graph over one home folder.

    Args:
        settings: Settings of the home folder.
        catalog: Suites to load; the leaderboard is always included.
        tables: Tables, instead of those of the home at the start of a run.
        models: Models of a command, whose runs have its settings; by default, every run reads
            bench.toml anew.
    """
    # Partitioned checks and data versions are beta; constraints.txt pins the tested version.
    warnings.simplefilter("ignore", dg.BetaWarning)
    warnings.simplefilter("ignore", dg.PreviewWarning)
    warnings.filterwarnings("ignore", "Property `OpDefinition.version`", DeprecationWarning)
    resources = _resources(settings, catalog, tables, models)
    jobs = [name for name, *_ in _suite_jobs(catalog)]
    catalog, suite_assets = load_suite_assets(
        catalog, resources.keys(), [*jobs, QUICK_EVALUATION, EVALUATION_JOB]
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
        func=_completion(
            assets,
            catalog,
            _inactive_answers(catalog, configured),
            code_versions(settings.home, catalog.suites),
        )
    )
    # apart, because Dagster maps no specs of observed assets
    parts = [definitions, dg.Definitions(assets=input_assets(catalog))]
    if not is_of_command:
        parts.append(_jobs_and_sensors(settings, catalog, assets))
    return Graph(dg.Definitions.merge(*parts), catalog)


def _jobs_and_sensors(
    settings: Settings, catalog: Catalog, assets: Sequence[Any]
) -> dg.Definitions:
    """Jobs and sensors of the UI and the daemon; a command starts its runs itself."""
    evaluable = catalog.evaluable
    checkpoint_jobs = _define_jobs(_checkpoint_jobs(evaluable.names))
    return dg.Definitions(
        jobs=[*_define_jobs(_suite_jobs(catalog), _job_tags(catalog)), *checkpoint_jobs],
        sensors=[
            checkpoint_sensor(checkpoint_jobs, evaluable.suites),
            *change_sensors(_specs(assets)),
            observation_sensor(partial(observe_inputs, catalog)),
            webhook_sensor(evaluable.suites),
            model_sensor(),
            *orphaned_run_sensors(settings),
            run_history_sensor(),
            *annotation_sensors(settings, catalog.suites),
        ],
    )


def _assets(left: Sequence[Any], catalog: Catalog, named_forms: Collection[str]) -> list[Any]:
    return [
        *(
            definition
            for definition in left
            if not isinstance(definition, dg.AssetChecksDefinition)
        ),
        *(
            asset
            for task in catalog.evaluable.tasks
            if task.asked_of == "model"  # tasks of encoders define their own assets
            for asset in memoize(_answers, task)
        ),
        *(
            memoize(annotation_assets, form)
            for suite in catalog.suites
            for form in suite.active_annotation_tasks(named_forms)
        ),
        *quick_evaluation_assets(catalog.evaluable.tasks),
        *(asset for assets_of in hooks_of("assets") for asset in assets_of(catalog)),
        *leaderboard_assets(catalog),
        report_asset(catalog),
    ]


def _specs(assets: Iterable[Any]) -> list[dg.AssetSpec]:
    """Assets of definitions, before their groups are assigned."""
    return [
        spec
        for asset in assets
        for spec in (asset.specs if isinstance(asset, dg.AssetsDefinition) else [asset])
        if isinstance(spec, dg.AssetSpec)
    ]


def _inactive_answers(catalog: Catalog, configured: Collection[str]) -> frozenset[dg.AssetKey]:
    """Answers of inactive annotation tasks, which no asset produces."""
    return frozenset(
        answers_key(task)
        for suite in catalog.suites
        for task in suite.every_annotation_task
        if task.task.name not in configured
    )


def _completion(
    assets: Iterable[Any],
    catalog: Catalog,
    absent: Collection[dg.AssetKey],
    code: Mapping[str, str],
) -> Callable[[dg.AssetSpec], dg.AssetSpec]:
    """Group, column schema, automation, inputs and code version of each asset.

    Args:
        assets: The assets.
        catalog: The suites.
        absent: Tables that no asset makes, whose dependencies are dropped.
        code: Code versions of the suites' dataset builds, and of the leaderboard ("").
    """
    made = [
        asset for asset in assets if isinstance(asset, dg.AssetsDefinition) and asset.is_executable
    ]
    columns = {
        key: {"dagster/column_schema": schema}
        for asset in made
        for key, schema in column_schemas(asset).items()
    }
    configured = {
        spec.key
        for asset in made
        if asset.required_resource_keys & _SOURCES and not asset.partitions_def
        for spec in asset.specs
        if spec.tags.get("bench/stage") != "annotation"  # answers have versions of their own
    }

    def complete(spec: dg.AssetSpec) -> dg.AssetSpec:
        connected = with_source(_drop_dependencies(spec, absent), catalog.names, configured)
        grouped = assign_group(with_automation(_with_code(connected, code)), catalog)
        return grouped.merge_attributes(metadata=columns.get(spec.key, {}))

    return complete


def _with_code(spec: dg.AssetSpec, code: Mapping[str, str]) -> dg.AssetSpec:
    """Add the digest of the code to the version; evaluations have versions raised by hand."""
    suite, is_board = spec.key.path[0], spec.group_name == "leaderboard"
    is_build = spec.tags.get("bench/stage") in BUILD_STAGES and "bench/per" not in spec.tags
    version = code.get(suite if is_build else "", "") if is_build or is_board else ""
    if not version or spec.tags.get("bench/stage") == "observed":
        return spec
    return spec.replace_attributes(
        code_version="+".join(filter(None, [spec.code_version, version]))
    )


def _drop_dependencies(spec: dg.AssetSpec, absent: Collection[dg.AssetKey]) -> dg.AssetSpec:
    """Drop dependencies on answers of tasks that are not configured."""
    deps = [dep for dep in spec.deps if dep.asset_key not in absent]
    return spec if len(deps) == len(list(spec.deps)) else spec.replace_attributes(deps=deps)


def _checks(
    left: Sequence[Any], catalog: Catalog, *, is_of_command: bool
) -> list[dg.AssetChecksDefinition]:
    tasks = catalog.tasks
    make = _checks_of_command if is_of_command else _task_checks
    return [
        *(definition for definition in left if isinstance(definition, dg.AssetChecksDefinition)),
        *(
            check
            for suite in catalog.suites
            for task in suite.tasks
            for check in memoize(make, task, suite.expectations)
        ),
        *(check for task in tasks for check in memoize(regression_checks, task, *tasks)),
        *source_checks(left),
    ]


def _task_checks(task: Task, expectations: Path | None) -> list[dg.AssetChecksDefinition]:
    return task_checks(task, validation_check(task.name, expectations))


def _checks_of_command(task: Task, _: Path | None) -> list[dg.AssetChecksDefinition]:
    return task_checks(task)  # without Great Expectations, whose import takes seconds


def _answers(task: Task) -> list[dg.AssetsDefinition]:
    return [asset for condition in task.conditions for asset in evaluation_assets(task, condition)]


def _define_jobs(
    jobs: Iterable[_Job], tags: Mapping[str, Mapping[str, str]] | None = None
) -> list[Any]:
    of = tags or {}
    return [
        dg.define_asset_job(name, selection, description=description, tags=of.get(name))
        for name, selection, description in jobs
    ]


def _job_tags(catalog: Catalog) -> dict[str, dict[str, str]]:
    """Tags by job: without a chosen partition, questions are built of all raw data sets."""
    return {
        f"{suite.name}_questions": range_tags([*suite.raw_data.folders])
        for suite in catalog.evaluable.suites
        if suite.raw_data
    }


def _resources(
    settings: Settings, catalog: Catalog, tables: TableFiles | None, models: Models | None
) -> dict[str, object]:
    home, images = str(settings.home), open_image_store(settings)
    read = settings if models else HomeSettings(home=home)
    opened = tables or HomeTables(settings=read)
    of_command = dg.ResourceDefinition.hardcoded_resource  # Dagster would make it anew
    return {
        "settings": of_command(settings) if models else read,
        "sources": SourceFiles(settings=read),
        "image_store": images,
        "models": of_command(models) if models else Models(settings=read, image_store=images),
        "tables": opened,
        "io_manager": observing_io_manager(catalog, files=opened, settings=read),
    }


def _suite_jobs(catalog: Catalog) -> list[_Job]:
    """Jobs of the suites of packages: those of many file benchmarks would take most of a load."""
    return [job for suite in catalog.evaluable.suites if suite.code for job in _jobs(suite.name)]


def _jobs(suite: str) -> list[_Job]:
    main, ablations = (
        select_group(suite),
        select_group(f"{suite}_ablations"),
    )
    per_model = dg.AssetSelection.tag("bench/per", "model")
    return [
        (
            f"{suite}_questions",
            main - per_model - dg.AssetSelection.tag("bench/when", "asked"),
            f"Build the question tables of {suite} from its source.",
        ),
        (
            f"{suite}_ablation_questions",
            ablations - per_model,
            f"Build the question tables of the ablations of {suite}.",
        ),
        (
            f"evaluate_{suite}",
            suite_tables(suite),
            f"Evaluate one model on {suite}: predictions, judgements, scores, metrics.",
        ),
        (
            f"{suite}_ablations",
            ablations & per_model,
            f"The ablations and studies of {suite} for one model.",
        ),
        (
            f"{suite}_audit",
            select_group(f"{suite}_audit"),
            f"Audit {suite} from the existing tables.",
        ),
    ]


def _checkpoint_jobs(suites: Sequence[str]) -> list[_Job]:
    return [
        (
            QUICK_EVALUATION,
            select_group(QUICK_EVALUATION),
            "Evaluate one model on a few questions of every task.",
        ),
        (
            EVALUATION_JOB,
            suite_tables(*suites),
            "Evaluate one model on every suite; its weights are loaded once.",
        ),
    ]
