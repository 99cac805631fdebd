"""A home folder with its graph and its Dagster instance.

Assets are materialized in this process, and recorded in the instance that the UI shows.
"""

import itertools
import os
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from typing import Any, Self

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import (
    constants_key,
    evaluation_key,
    no_questions_error,
    questions_key,
)
from bench_assets.asset_factory.suite_assets import MODELS, raw_data_parts
from bench_assets.catalog import Catalog, load_catalog
from bench_assets.comparison.results import HomeResults, Result
from bench_assets.core.schema.errors import SettingsError, TableError, UnknownNameError
from bench_assets.core.schema.rows import Metric, Question, StoredImage
from bench_assets.core.tables.arrow import digest
from bench_assets.defs.checks.staleness import CurrentConfiguration
from bench_assets.evaluation.task import Task
from bench_assets.workspace.console.new_home import print_new_home
from bench_assets.workspace.console.output import print_message
from bench_assets.workspace.materialization import asset_selections
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sources_toml import remember_source
from bench_resources.config.stores import open_table_locks
from bench_resources.datasets.source_files import open_source, tables_of
from bench_resources.images.locations import ImageFolder
from bench_resources.images.store import open_image_store
from bench_resources.models.registry.named_models import ResolvedModel
from bench_resources.models.registry.opening import Models
from bench_resources.response_cache.throughput import ProgressStyle
from bench_resources.runs.ledger import Ledger, observe
from bench_resources.tables.asset_types import row_type_of
from bench_resources.tables.parquet import read_columns


class Workbench:
    """An open home folder; a context manager that closes its Dagster instance."""

    def __init__(
        self,
        settings: Settings,
        suites: Sequence[str] = (),
        *,
        models: Sequence[ResolvedModel] = (),
        catalog: Catalog | None = None,
        progress: ProgressStyle = "in the log",
    ) -> None:
        """Open a home folder.

        Args:
            settings: Settings of the home folder, with the command's overrides.
            suites: Suites to load; (): all, which takes half a second more.
            models: Models that the command evaluates.
            catalog: All suites; None: those installed and those of bench.toml.
            progress: Where the progress of runs is shown.

        Raises:
            SettingsError: If bench.toml is invalid; nothing was started.
            UnknownNameError: If bench.toml or ``suites`` names an unknown suite.
        """
        self.settings = settings
        self.resolved = models
        catalog = catalog or load_catalog(settings)
        catalog.check(settings)
        self.tables = tables_of(settings)
        self.catalog = catalog.only(suites or catalog.names)
        self._models = Models(
            settings=settings, image_store=open_image_store(settings), progress=progress
        )
        self._models.know(models)
        self._ledger: Ledger | None = None
        self._progress = progress
        self._has_all_suites = not suites
        if self._has_all_suites:  # suites whose assets cannot be loaded are left out of the catalog
            _ = self.definitions

    def __enter__(self) -> Self:
        """Use the workbench."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the Dagster instance."""
        if "instance" in vars(self):
            self.instance.dispose()

    @cached_property
    def definitions(self) -> dg.Definitions:
        """The graph; built on first use, which takes half a second.

        Raises:
            SettingsError: If the assets of a chosen suite cannot be loaded.
        """
        from bench_assets.defs.assembly import build_graph  # takes a third of a second

        definitions, catalog = build_graph(self.settings, self.catalog, self.tables, self._models)
        new_problems = catalog.problems[len(self.catalog.problems) :]
        if new_problems and not self._has_all_suites:
            raise SettingsError("; ".join(new_problems))
        for problem in new_problems:
            print_message(f"warning: {problem}")
        self.catalog = catalog
        return definitions

    @cached_property
    def instance(self) -> dg.DagsterInstance:
        """Dagster's instance; opened on first use, which takes a while."""
        from bench_assets.workspace.materialization.dagster_instance import open_instance

        print_new_home(self.settings.home)
        return open_instance(self.settings.home, self.settings)

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be stored in the home."""
        return self.settings.home.exists() and not os.access(self.settings.home, os.W_OK)

    def model(self, name: str) -> ResolvedModel:
        """Find a model by name, once for this workbench; raises as ``resolve_name``."""
        return self._models.named(name)

    @property
    def ledger(self) -> Ledger:
        """The ledger of the tables, as it was after the last run or change of this workbench."""
        if self._ledger is None:
            self._ledger = Ledger(self.instance, self.definitions.resolve_asset_graph())
        return self._ledger

    def observe(self, suites: Collection[str], models: Sequence[str] = ()) -> None:
        """Record which sources and setups behind tables have changed.

        Without ``suites``, those of all suites, and what the leaderboard prints.

        Raises:
            BenchError: If a suite is unknown, or its source cannot be used.
        """
        from bench_assets.defs.observed_inputs import ObservedInputs

        inputs = ObservedInputs(
            settings=self.settings,
            catalog=self.catalog,
            tables=self.tables,
            find=self._models.named,
        )
        observed = [self.catalog.suite(name) for name in suites]
        for suite in observed:
            source = open_source(suite.name, self.settings)
            if suite.require_source and not source.is_mini:
                suite.require_source(source.folder)
        versions = inputs.of(observed, models) if suites else inputs.all(self.instance)
        for change in observe(versions, self.ledger.event):
            self.instance.report_runless_asset_event(change)
            self._ledger = None

    def due(self, keys: Set[dg.AssetKey], model: str = "") -> dict[dg.AssetKey, str]:
        """Tables that have to be made again, with the reason of the ledger, else of their files."""
        ledger = self.ledger
        if reasons := ledger.due(keys, model):
            return reasons
        problems: dict[dg.AssetKey, str] = {}
        for key in sorted(key for key in keys if not ledger.is_absent(key)):
            for partition in ledger.parts(key, model):
                if problem := self._file_problem(key, partition):
                    problems[key] = problem
        return problems

    def _file_problem(self, key: dg.AssetKey, partition: str | None) -> str:
        """Reason why a stored table cannot be used: another file, or missing images; else ""."""
        event = self.ledger.event(key, partition)
        recorded = event.digest if event else ""
        if not recorded:
            return ""
        try:
            if self.tables.digest(key.path, partition or "") != recorded:
                return "its file is gone, or another one"
            has_images = self.row_type(key) is StoredImage and recorded != digest(())
            if has_images and self._is_first_image_missing(key, partition):
                return "its images are gone"
        except TableError as error:
            return str(error)
        return ""

    def _is_first_image_missing(self, key: dg.AssetKey, partition: str | None) -> bool:
        """Whether the folder lacks the first image of a table, as after its deletion."""
        images = open_image_store(self.settings).place
        if not isinstance(images, ImageFolder):  # a look-up in an object store is a request
            return False
        columns = read_columns(self.tables, key.path, StoredImage, partition or "", ["sha256"])
        first_digest: str = columns["sha256"][0]
        return not images.sizes([first_digest])

    def refresh_questions(self, suite: str) -> None:
        """Build the questions of a suite or task, unless they are current.

        In a read-only home, existing questions stay, with a warning if they are old.

        Raises:
            BenchError: If the source cannot be used, or a blocking check fails.
        """
        tasks = self.catalog.tasks_of(suite)
        present = [task for task in tasks if self.tables.exists(questions_key(task, "main"))]
        configuration = CurrentConfiguration(self.settings)
        is_stale = any(configuration.questions_stale_reason(task, self.tables) for task in present)
        if self.is_read_only and present:
            if is_stale:
                print_message(f"warning: {suite}: its questions are old; the home is read-only")
            return
        name = self.catalog.suite(suite).name
        self.observe([name])
        keys = self._resolve(asset_selections.dataset_build(suite))
        if is_stale or self.due(keys):
            self._make_due(keys, f"{suite}: questions")

    def _make_due(self, keys: Set[dg.AssetKey], title: str) -> None:
        """Make tables; of those partitioned by raw data set, only the partitions that are due."""
        graph = self.definitions.resolve_asset_graph()
        raw_data = raw_data_parts(graph, keys)
        partitioned = [
            key
            for key in graph.toposorted_asset_keys
            if key in keys and raw_data_parts(graph, [key])
        ]
        spans = _spans(self._due_partitions(partitioned[0]), raw_data) if partitioned else []
        # One run reads raw data and makes all that follows, so that it is refused as a whole.
        is_one_run = len(spans) == 1 and {*self._due_partitions(partitioned[-1])} <= {*spans[0]}
        if is_one_run:
            self._make(keys, title=title, parts=spans[0])
        elif spans:
            ancestors = graph.get_ancestor_asset_keys(partitioned[0])
            self._make(keys & ancestors, title=title)
        for key in partitioned:  # a table upstream may have changed what is due
            for span in _spans(self._due_partitions(key), raw_data):
                self._make([key], title=title, parts=span)
        unpartitioned = keys - {*partitioned}
        if not is_one_run or self.due(unpartitioned):
            self._make(unpartitioned, title=title)

    def _due_partitions(self, key: dg.AssetKey) -> list[str | None]:
        ledger = self.ledger
        return [
            partition
            for partition in ledger.parts(key)
            if ledger.reason(key, partition) or self._file_problem(key, partition)
        ]

    def remember_source(self, suite: str) -> None:
        """Record that a suite or task, whose questions exist, is evaluated on its present source.

        Raises:
            BenchError: If it cannot be recorded.
        """
        name = self.catalog.suite(suite).name
        remember_source(self.settings.of_file, name, self.settings.named_sources.get(name, ""))

    def build_questions(self, suite: str) -> None:
        """Materialize the assets of a suite or task that do not depend on a model, with checks.

        Raises:
            BenchError: If the source cannot be used, or a blocking check fails.
        """
        self.observe([self.catalog.suite(suite).name])
        keys = self._resolve(asset_selections.dataset_build(suite))
        self._make(keys, title=f"{suite}: questions")

    def evaluate(self, suites: Sequence[str], model: str, condition: str = "main") -> None:
        """Generate, judge, score and aggregate for a model under one condition, in one run.

        Tasks with current tables are skipped.

        Args:
            suites: Suites or tasks. A suite excludes its retrieval task, which evaluates encoders
                from the suite's settings; name the task to evaluate one.
            model: A model of bench.toml, or an encoder.
            condition: "main", or an ablation that all tasks have.

        Raises:
            BenchError: If a name is unknown, a table cannot be made, or a check fails.
        """
        tasks = asset_selections.tasks_of_one_kind(
            [task for suite in suites for task in self.catalog.tasks_of(suite)]
        )
        kind = tasks[0].asked_of
        if kind == "model":
            self.model(model)  # raises if it is unknown
        for task in tasks:
            self._refresh_condition(task, condition)
            is_built = self.tables.exists(questions_key(task, condition))
            if task.conditions[condition].needs and not is_built:
                raise no_questions_error(task, condition)
            self.remember_source(task.suite)
        self.observe({task.suite for task in tasks}, [model] if kind == "model" else [])
        if not self._due_evaluations(tasks, model, condition):
            return
        from bench_resources.runs.orphaned_runs import table_locks

        folders = {"/".join(evaluation_key(task, condition, "")[:-1]) for task in tasks}
        with open_table_locks(self.settings).held(table_locks(folders, model), print_message):
            self._ledger = None  # another process may have evaluated meanwhile
            if due := self._due_evaluations(tasks, model, condition):
                self._add_partition(kind, model)
                self._make(due, model=model)

    def _due_evaluations(
        self, tasks: Iterable[Task], model: str, condition: str
    ) -> set[dg.AssetKey]:
        """Tables of evaluations and of constants that are not current."""
        all_keys = self.definitions.resolve_asset_graph().get_all_asset_keys()
        configuration = CurrentConfiguration(self.settings)
        due: set[dg.AssetKey] = set()
        for task in tasks:
            keys = self._resolve(asset_selections.evaluation(task, condition, all_keys))
            constants = dg.AssetKey(constants_key(task, condition))
            for table_keys in (keys, {constants} & all_keys):
                if table_keys and self.due(table_keys, model):
                    due |= table_keys
            metrics = evaluation_key(task, condition, "metrics")
            if not keys & due and self.tables.exists(metrics, model):
                rows = self.tables.read(metrics, Metric, model)
                if rows and configuration.stale_reason(task, rows[0], self.tables):
                    due |= keys
        return due

    def metrics(self, suite: str, model: str, condition: str = "main") -> list[Metric]:
        """Read the metrics of an evaluation, corrected or marked by ``with_people``."""
        from bench_assets.comparison.people_checks import with_people  # slow to import

        all_keys = self.definitions.resolve_asset_graph().get_all_asset_keys()
        metrics: list[Metric] = []
        for task in asset_selections.tasks_of_one_kind(self.catalog.tasks_of(suite)):
            selection = asset_selections.evaluation(task, condition, all_keys)
            for key in sorted(self._resolve(selection)):
                if self.row_type(key) is Metric:
                    rows = self.tables.read(key.path, Metric, model)
                    metrics += with_people(self.tables, task, rows)
        return metrics

    def results(self, metrics: Sequence[Metric]) -> list[Result]:
        """Summarize metrics: one result for each model, task and condition."""
        tasks = {task.name: task for task in self.catalog.tasks}
        return HomeResults(settings=self.settings, tables=self.tables, tasks=tasks).of(metrics)

    def refresh_leaderboard(self) -> None:
        """Compute the leaderboard and its export, unless nothing changed."""
        self._ledger = None  # another process may have evaluated meanwhile
        self.observe([])
        keys = self._resolve(asset_selections.LEADERBOARD)
        if self.due(keys):
            self._make(keys, title="leaderboard")

    def add_models(self, models: Sequence[str]) -> None:
        """Add partitions for models that have none.

        Raises:
            UnknownNameError: If bench.toml has no model of that name.
        """
        for model in models:
            if model not in self.settings.models:  # other machines may run configured models
                self.model(model)
            self._add_partition(str(MODELS.name), model)

    def add_encoders(self) -> None:
        """Add partitions for the encoders of bench.toml and the random encoder."""
        for encoder in ("random", *self.settings.encoders):
            self._add_partition("encoder", encoder)

    def questions(self, task: Task, condition: str = "main") -> Sequence[Question]:
        """Read the question table of a condition; materialized now if it is built on demand."""
        self._refresh_condition(task, condition)
        return self.tables.read(questions_key(task, condition), Question)

    def tasks_with_questions(self, names: Sequence[str]) -> list[Task]:
        """The tasks of suites whose source has questions for them; all tasks if none has."""
        tasks = [task for name in names for task in self.catalog.tasks_of(name)]
        with_table = [task for task in tasks if self.tables.exists(questions_key(task, "main"))]
        return with_table or tasks

    def rows(self, name: str, model: str = "") -> list[Any]:
        """Read any table by the name of its asset, such as ``codis/funnel``.

        Raises:
            UnknownNameError: If no asset has that name.
            SettingsError: If a model is named, and rows have none.
            TableError: If it was never materialized, or is damaged.
        """
        key = dg.AssetKey(name.split("/"))
        graph = self.definitions.resolve_asset_graph()
        if key not in graph.get_all_asset_keys():
            names = (key.to_user_string() for key in graph.get_all_asset_keys())
            raise UnknownNameError("table", name, names, all_by="bench tables list")
        row_type = self.row_type(key)
        partitions_def = graph.get(key).partitions_def
        has_models = isinstance(partitions_def, dg.DynamicPartitionsDefinition)
        if model and not (has_models or "model" in row_type.__dataclass_fields__):
            raise SettingsError(f"{name}: has no rows of one model. Leave --model out")
        if partitions_def is None:
            rows = self.tables.read(key.path, row_type)
            return [row for row in rows if not model or row.model == model]
        partitions = [model] if model else self.tables.partitions(key.path)
        return [
            row
            for partition in partitions
            for row in self.tables.read(key.path, row_type, partition)
        ]

    @contextmanager
    def models(self, *, asks: bool = True) -> Iterator[Models]:
        """Open models and judges without a run; with ``asks``, requests may be sent."""
        offline = Models(settings=self.settings, image_store=self._models.image_store, asks=False)
        with closing(self._models if asks else offline) as models:
            yield models

    def materialize(
        self,
        selection: dg.AssetSelection,
        *,
        model: str | None = None,
        title: str = "",
        parts: Sequence[str] = (),
    ) -> None:
        """Materialize assets and run their checks.

        Args:
            selection: The assets.
            model: Partition of tables with one per model.
            title: Title of the progress display.
            parts: Neighbouring partitions of tables with one per raw data set; (): all.

        Raises:
            BenchError: The error of an asset, or a ``RunError`` that names the failed check.
            KeyboardInterrupt: If it was interrupted.
        """
        from bench_assets.workspace.materialization.dagster_instance import (
            AssetRun,
            storage_error_reporting,
        )

        keys = sorted(selection.resolve(self.definitions.resolve_asset_graph()))
        full_job = self.definitions.resolve_implicit_global_asset_job_def()
        # Dagster copies and describes the job in each run, which takes a fifth of a short run.
        job = full_job.get_subset(asset_selection=frozenset(keys))
        parts = parts or raw_data_parts(self.definitions.resolve_asset_graph(), keys)
        run = AssetRun(
            job=job, keys=keys, model=model, parts=parts, title=title, progress=self._progress
        )
        with storage_error_reporting(self.settings.home / "dagster"), closing(self._models):
            self._ledger = None
            run.execute(self.instance, self.settings.home / "locks")

    def _refresh_condition(self, task: Task, condition: str) -> None:
        """Rebuild the tables that only this condition needs, unless their inputs are unchanged."""
        if condition == "main" and task.asked_of == "model":
            return  # it reads the dataset build alone
        all_keys = self.definitions.resolve_asset_graph().get_all_asset_keys()
        keys = self._resolve(asset_selections.condition_inputs(task, condition, all_keys))
        if keys:
            self.observe([task.suite])
            if self.due(keys):
                self._make(keys, title=dg.AssetKey(questions_key(task, condition)).to_user_string())

    def _resolve(self, selection: dg.AssetSelection) -> Set[dg.AssetKey]:
        return selection.resolve(self.definitions.resolve_asset_graph())

    def _make(
        self,
        keys: Collection[dg.AssetKey],
        *,
        model: str | None = None,
        title: str = "",
        parts: Sequence[str] = (),
    ) -> None:
        self.materialize(dg.AssetSelection.assets(*keys), model=model, title=title, parts=parts)

    def row_type(self, key: dg.AssetKey) -> type[Any]:
        """Type of the rows of an asset's table.

        Raises:
            TableError: If the asset is not a table of rows.
        """
        asset = self.definitions.resolve_asset_graph().assets_def_for_key(key)
        row_type = row_type_of(asset, key)
        if row_type is None:
            raise TableError(f"{key.to_user_string()} is not a table of rows")
        return row_type

    def _add_partition(self, partition_set: str, partition: str) -> None:
        from sqlalchemy.exc import IntegrityError

        if not self.instance.has_dynamic_partition(partition_set, partition):
            with suppress(IntegrityError):  # another process added it in between
                self.instance.add_dynamic_partitions(partition_set, [partition])


def _spans(chosen: Collection[str | None], parts: Sequence[str]) -> list[list[str]]:
    """Group the chosen parts into runs of neighbours.

    >>> _spans({"a", "b", "d"}, ["a", "b", "c", "d"])
    [['a', 'b'], ['d']]
    """
    groups = itertools.groupby(parts, lambda part: part in chosen)
    return [[*group] for is_chosen, group in groups if is_chosen]
