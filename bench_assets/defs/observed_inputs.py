"""Observed inputs: what tables are made of that no asset makes, as assets with versions.

They are the sources, the setups of models, judges and scorers, and the files that the leaderboard
prints. A sensor and each command report a new version as an observation, without a run.
"""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias, cast

import dagster as dg

from bench_assets.annotation.tasks import PEOPLE, AnnotationError, format_timestamp
from bench_assets.asset_factory.configured_runner import people_judge
from bench_assets.asset_factory.evaluation_tables import evaluation_key
from bench_assets.asset_factory.suite_assets import (
    HOME_TEAM,
    MODEL_SETUP,
    MODELS,
    judge_key,
    raw_data_key,
    raw_data_partitions,
    scorer_key,
    source_key,
)
from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import BenchError, SettingsError, UnknownNameError
from bench_assets.core.schema.provenance import json_digest
from bench_assets.core.tables.arrow import digest
from bench_assets.defs.checks.staleness import CurrentConfiguration
from bench_assets.evaluation.suite import Suite, SuiteSettings
from bench_assets.evaluation.task import Task
from bench_assets.features import open_annotation_backend
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from bench_resources.datasets.source_files import (
    SuiteSource,
    configured_release,
    open_source,
    table_locations,
)
from bench_resources.datasets.source_state import HomeTableIOManager
from bench_resources.models.registry.setup import FindModel, named_files, setup_of
from bench_resources.runs.ledger import last_observation, observe
from bench_resources.storage.file_digests import file_states, home_digests, iter_texts
from bench_resources.tables.parquet import TableFiles

LEADERBOARD_INPUTS = dg.AssetKey("leaderboard_inputs")
"""Printed numbers, tables of other sources, and metrics that no run made."""

_STAGE = {"bench/stage": "observed"}

BUILD_STAGES = ("source", "images", "annotation", "select", "distractors", "questions")
"""Stages of a dataset build."""

Versions: TypeAlias = Mapping[tuple[dg.AssetKey, str | None], str]
"""Version by input and partition."""

_MAX_DIGESTED = 1 << 16  # images that are digested, at most
_EVALUATION_SETTINGS = frozenset(SuiteSettings.model_fields)  # questions do not depend on them
_DIGITS = 16  # hexadecimal digits of a digest


class ObservedInputs:
    """Reads the present versions of observed inputs; each setup once."""

    def __init__(
        self,
        settings: Settings,
        catalog: Catalog,
        tables: TableFiles,
        find: FindModel | None = None,
    ) -> None:
        """Read nothing yet; ``find`` finds models that were resolved before."""
        self._settings = settings
        self._catalog = catalog
        self._tables = tables
        self._configuration = CurrentConfiguration(settings, find)

    def all(self, instance: dg.DagsterInstance) -> Versions:
        """Versions of all inputs, for the models that are partitions of an instance."""
        models = instance.get_dynamic_partitions(str(MODELS.name))
        versions = self.of(self._catalog.evaluable.suites, models)
        return {**versions, **self.of_leaderboard(instance)}

    def of(self, suites: Iterable[Suite], models: Iterable[str]) -> Versions:
        """Versions of the inputs of suites and of models' setups."""
        versions = dict(self.of_models(models))
        for suite in suites:
            versions |= self.of_suite(suite)
        return versions

    def of_suite(self, suite: Suite) -> Versions:
        """Versions of a suite's source, raw data sets, judge and scorer."""
        scorer_settings = self._settings.suite(suite.name, SuiteSettings).model_dump(mode="json")
        judge_settings = {name: scorer_settings.pop(name) for name in ("judge", "reader")}
        judges = [self._judge_facts(task) for task in suite.tasks]
        try:
            source = _source_facts(self._settings, suite)
            raw_data = dict(_raw_data_facts(self._settings, suite))
        except BenchError as error:  # the build reports it
            source, raw_data = [str(error)], {}
        versions: dict[tuple[dg.AssetKey, str | None], str] = {
            (raw_data_key(suite.name), partition): _version(facts)
            for partition, facts in raw_data.items()
        }
        versions[source_key(suite.name), None] = _version(source)
        versions[judge_key(suite.name), None] = _version([judge_settings, judges])
        versions[scorer_key(suite.name), None] = _version([scorer_settings])
        return versions

    def of_models(self, models: Iterable[str]) -> Versions:
        """Versions of models' setups."""
        return {
            (MODEL_SETUP, name): self._configuration.model(name) or "unknown" for name in models
        }

    def of_leaderboard(self, instance: dg.DagsterInstance) -> Versions:
        """Version of what the leaderboard prints besides the tables that Dagster made."""
        suites, home = self._catalog.suites, self._settings.home
        files = [*(suite.published for suite in suites if suite.published), home / "draws.jsonl"]
        digests = [*home_digests(home).of(file for file in files if file.exists())]
        other_sources: list[object] = []
        for task in self._catalog.tasks:
            keys = [evaluation_key(task, "main", name) for name in ("questions", "metrics")]
            for tables in self._tables.elsewhere(task.suite):
                other_sources += [[tables.below(key), tables.states(key)] for key in keys]
        unrecorded = [self._unrecorded_metrics(instance, task) for task in self._catalog.tasks]
        return {(LEADERBOARD_INPUTS, None): _version([digests, other_sources, unrecorded])}

    def _unrecorded_metrics(self, instance: dg.DagsterInstance, task: Task) -> Mapping[str, str]:
        """States by model of metrics that no run made, such as imported ones; "" if removed."""
        key = evaluation_key(task, "main", "metrics")
        states = self._tables.states(key)
        models = states.keys() ^ instance.get_materialized_partitions(dg.AssetKey(key))
        return {model: states.get(model, "") for model in sorted(models)}

    def _judge_facts(self, task: Task) -> list[object]:
        """Setups of the judge and the reader of a task, or the answers of people who judge."""
        setting = self._settings.suite(task.suite, SuiteSettings).judge
        try:
            if task.is_judged and task.chosen_judge(setting).name == PEOPLE:
                people = people_judge(task, self._settings)
                until = people.terms.until
                is_closed = bool(until) and format_timestamp(people.now) > until
                return [digest(people.answers), str(people.terms), is_closed]
        except (SettingsError, AnnotationError, UnknownNameError):  # the run reports it
            return []
        judge = self._configuration.judge(task) if task.is_judged else ""
        reader = self._configuration.reader(task, model="") if task.is_read else ""
        return [judge, reader]


def build_models(settings: Settings, suite: str) -> Collection[str]:
    """Models that take part in the build of a suite's questions, such as a writer."""
    return settings.models.keys() & set(iter_texts(_build_settings(settings, suite)))


def _version(facts: object) -> str:
    return json_digest(facts)[:_DIGITS]


def _source_facts(settings: Settings, suite: Suite) -> list[object]:
    """Place and content of a source, and what else a build reads: settings, models, answers.

    The mini edition's folder is not included, because code generates it; nor is that of a release,
    whose address names its content.
    """
    name = suite.name
    build_settings = _build_settings(settings, name)
    models = {model: setup_of(model, settings) for model in build_models(settings, name)}
    paths = named_files(build_settings, settings)
    facts: list[object] = [build_settings, models, table_locations(settings).get(name, "")]
    benchmark = settings.benchmarks.get(name)
    if benchmark:
        facts.append(benchmark.model_dump(mode="json"))
        files = [benchmark.shots_file, benchmark.answers_file and benchmark.answers_file.file]
        paths += [settings.resolve(file) for file in files if file]
    if not configured_release(settings, name):
        source = open_source(name, settings)
        if not source.is_mini:
            paths.append(source.folder)
        facts.append(_digest_images(benchmark, name, source, settings) if benchmark else "")
    digests = home_digests(settings.home).of(paths)
    return [*facts, *digests, *_annotation_inputs(settings, suite)]


def _raw_data_facts(settings: Settings, suite: Suite) -> Iterator[tuple[str, list[object]]]:
    """Place and content of each raw data set, and the settings that its tables depend on."""
    raw_data = suite.raw_data
    if raw_data is None:
        return
    location = table_locations(settings).get(suite.name, "")
    suite_settings = settings.suite(suite.name, suite.settings)
    is_release = bool(configured_release(settings, suite.name))
    source = None if is_release else open_source(suite.name, settings)
    is_raw = source is not None and raw_data.is_in(source.folder)
    for partition, name in raw_data.folders.items():
        folders = [source.folder / name] if source and is_raw and not source.is_mini else []
        digests = home_digests(settings.home).of(folders)
        yield partition, [location, is_raw, raw_data.settings(suite_settings, partition), *digests]


def _build_settings(settings: Settings, suite: str) -> dict[str, Any]:
    """Settings of a suite in bench.toml that its questions may depend on."""
    suite_settings = settings.suites.get(suite, {})
    return {
        name: value for name, value in suite_settings.items() if name not in _EVALUATION_SETTINGS
    }


def _digest_images(
    benchmark: FileBenchmarkSettings, name: str, source: SuiteSource, settings: Settings
) -> str:
    """Digest the images that a file benchmark names.

    If there are more than ``_MAX_DIGESTED``, sizes and modification times represent the content.
    """
    # The import takes 0.1 s.
    from bench_assets.file_benchmarks.questions import benchmark_location, image_files

    location = benchmark_location(name, source.folder, settings)
    files = [*map(Path, image_files(benchmark, location))]
    is_digested = len(files) <= _MAX_DIGESTED
    facts = home_digests(settings.home).of(files) if is_digested else file_states(files)
    digest_of_all = sha256()
    for fact in facts:
        digest_of_all.update(json_digest(fact).encode())
    return digest_of_all.hexdigest()


def _annotation_inputs(settings: Settings, suite: Suite) -> Iterator[object]:
    """Answers to the suite's configured annotation tasks, with their settings."""
    for annotation_task in suite.annotation_tasks:
        task = annotation_task.task
        task_settings = settings.annotation.tasks.get(task.name)
        if task_settings is None:
            continue
        yield [task.name, settings.annotation.kind, task_settings.model_dump(mode="json")]
        try:
            yield digest(open_annotation_backend(settings).answers(task))
        except BenchError as error:  # building the tables reports it
            yield str(error)


def observe_inputs(
    catalog: Catalog, instance: dg.DagsterInstance, settings: Settings, tables: TableFiles
) -> list[dg.AssetObservation]:
    """Observations of all inputs that have changed since the last ones."""
    versions = ObservedInputs(settings, catalog, tables).all(instance)
    return observe(versions, partial(last_observation, instance))


def observing_io_manager(catalog: Catalog, **resources: Any) -> HomeTableIOManager:  # noqa: ANN401
    """Build the IO manager; each run observes what it reads when it starts."""

    class ObservingTableIOManager(HomeTableIOManager):
        """Observes the inputs of runs that neither a sensor nor a command observed before."""

        @contextmanager
        def yield_for_execution(self, context: dg.InitResourceContext) -> Generator[Any]:
            """Report changed sources and setups of the run's tables, then store them."""
            if context.run and context.instance:
                tables = cast(TableFiles, self.files)
                inputs = ObservedInputs(cast(Settings, self.settings), catalog, tables)
                versions = _versions_for_run(inputs, catalog, context.run)
                for change in observe(versions, partial(last_observation, context.instance)):
                    context.instance.report_runless_asset_event(change)
            with super().yield_for_execution(context) as manager:
                yield manager

    return ObservingTableIOManager(**resources)


def _versions_for_run(inputs: ObservedInputs, catalog: Catalog, run: dg.DagsterRun) -> Versions:
    """Versions of the inputs of the suites and of the model that a run selects."""
    selected = {key.path[0] for key in run.asset_selection or ()}
    suites = [suite for suite in catalog.evaluable.suites if not selected or suite.name in selected]
    raw_data = {name for suite in suites if suite.raw_data for name in suite.raw_data.folders}
    models = {run.tags.get("dagster/partition", "")} - raw_data - {""}
    return inputs.of(suites, models)


def input_assets(catalog: Catalog) -> list[Any]:
    """The observed inputs as assets; the button of the UI observes them in a run."""
    suites = catalog.evaluable.suites
    inputs = (
        (source_key, "dataset", "Files and place of the source, and what the build reads besides."),
        (judge_key, "evaluation", "Setups of the judge and of the reader."),
        (scorer_key, "evaluation", "The scorer and its settings."),
    )
    specs = [
        dg.AssetSpec(
            key(suite.name),
            group_name=f"{suite.name}_{group}",
            description=description,
            owners=[f"team:{suite.name}"],
            tags=_STAGE,
        )
        for suite in suites
        for key, group, description in inputs
    ]
    specs.append(
        dg.AssetSpec(
            LEADERBOARD_INPUTS,
            group_name="leaderboard",
            description="Printed numbers, imported metrics, and tables of other sources.",
            owners=[HOME_TEAM],
            tags=_STAGE,
        )
    )

    @dg.multi_observable_source_asset(  # type: ignore[untyped-decorator]  # Dagster's
        specs=specs, name="observed", can_subset=True
    )
    def observed(
        context: dg.AssetExecutionContext, settings: dg.ResourceParam[Settings], tables: TableFiles
    ) -> Iterator[dg.ObserveResult]:
        versions = ObservedInputs(settings, catalog, tables).all(context.instance)
        for key in sorted(context.selected_asset_keys):
            yield dg.ObserveResult(asset_key=key, data_version=dg.DataVersion(versions[key, None]))

    raw_data = [
        _partitioned_input(
            catalog,
            raw_data_key(suite.name),
            raw_data_partitions(suite.raw_data),
            f"{suite.name}_dataset",
            "Files of each raw data set, and the settings that its tables depend on.",
        )
        for suite in suites
        if suite.raw_data
    ]
    setups = _partitioned_input(catalog, MODEL_SETUP, MODELS, "models", "Setup of each model.")
    return [observed, setups, *raw_data]


def _partitioned_input(
    catalog: Catalog,
    key: dg.AssetKey,
    partitions: dg.PartitionsDefinition[str],
    group: str,
    description: str,
) -> dg.SourceAsset:
    """Build an observed input with a version for each partition."""

    @dg.observable_source_asset(
        key=key, group_name=group, description=description, tags=_STAGE, partitions_def=partitions
    )
    def observed_partitions(
        context: dg.AssetExecutionContext, settings: dg.ResourceParam[Settings], tables: TableFiles
    ) -> dg.DataVersionsByPartition:
        versions = ObservedInputs(settings, catalog, tables).all(context.instance)
        return dg.DataVersionsByPartition(
            {
                partition: version
                for (asset, partition), version in versions.items()
                if asset == key and partition
            }
        )

    return observed_partitions


def with_source(
    spec: dg.AssetSpec, suites: Collection[str], configured: Collection[dg.AssetKey]
) -> dg.AssetSpec:
    """Add the source to the inputs of a table, if its dataset build reads the source.

    These are the ``configured`` tables, whose code reads bench.toml or files of the source, and
    those without other inputs.
    """
    suite = spec.key.path[0]
    is_build = spec.tags.get("bench/stage") in BUILD_STAGES
    if suite not in suites or not is_build or "bench/per" in spec.tags:
        return spec
    keys = {dep.asset_key for dep in spec.deps}
    if source_key(suite) in keys or (keys and spec.key not in configured):
        return spec
    return spec.replace_attributes(deps=[*spec.deps, source_key(suite)])
