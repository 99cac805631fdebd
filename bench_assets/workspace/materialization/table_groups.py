"""Groups of tables that are materialized together, with their inputs.

The inputs of an evaluation are the content of the tables that it reads, the inputs of the
questions, and the settings and files of the model and the judge.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import dagster as dg

from bench_assets.annotation.tasks import PEOPLE, AnnotationError, format_timestamp
from bench_assets.asset_factory.configured_runner import (
    configured_reader,
    people_judge,
    reader_model,
)
from bench_assets.asset_factory.evaluation_tables import CONSTANTS, evaluation_key, questions_key
from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import ModelError, SettingsError, TableError, UnknownNameError
from bench_assets.core.schema.provenance import json_digest
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Task
from bench_assets.workspace.materialization import asset_selections, freshness
from bench_assets.workspace.materialization.freshness import TableGroup
from bench_resources.config.bench_toml import Settings
from bench_resources.config.stores import open_home_blobs
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.models.registry.opening import Models
from bench_resources.models.registry.setup import state_of
from bench_resources.storage.file_digests import home_digests
from bench_resources.tables.parquet import TableFiles


class HomeContext(NamedTuple):
    """Context of a materialization: the graph, its tables and the user's settings."""

    definitions: Callable[[], dg.Definitions]  # built at the first call
    catalog: Catalog
    tables: TableFiles
    models: Models
    sources: SourceFiles

    @property
    def settings(self) -> Settings:
        """The settings of the home."""
        return self.models.settings

    def table_group(
        self, name: str, selection: dg.AssetSelection, made_of: str, model: str = ""
    ) -> TableGroup:
        """Build the group of the selected tables; ``made_of`` is the digest of their inputs."""
        return TableGroup(
            name=name,
            select=lambda: selection.resolve(self.definitions().resolve_asset_graph()),
            made_of=made_of,
            model=model,
            tables=self.tables,
            images=open_home_blobs(self.settings, "images").folder,
        )

    def inputs(self, suite: str) -> str:
        """Digest of the inputs of a suite's question tables.

        Raises:
            SourceError: If the source does not have the suite's layout.
        """
        source, read = self.sources.open(suite), self.catalog.suite(suite)
        if read.require_source and not source.is_mini:
            read.require_source(source.folder)
        return freshness.inputs_digest(self.settings, read, source)

    def input_tables(self, selection: dg.AssetSelection) -> list[dg.AssetKey]:
        """Tables outside a selection that its assets read."""
        graph = self.definitions().resolve_asset_graph()
        keys = selection.resolve(graph)
        return sorted({parent for key in keys for parent in graph.get(key).parent_keys} - keys)


def question_group(home: HomeContext, name: str) -> TableGroup:
    """All assets of a suite or task that do not depend on a model."""
    suite = home.catalog.suite(name).name
    return home.table_group(name, asset_selections.dataset_build(name), home.inputs(suite))


def on_demand_group(home: HomeContext, name: str, keys: Collection[dg.AssetKey]) -> TableGroup:
    """Tables that only one condition needs, named after its questions."""
    return home.table_group(
        name, dg.AssetSelection.assets(*keys), home.inputs(name.partition("/")[0])
    )


def evaluation_groups(
    home: HomeContext, tasks: Sequence[Task], model: str, condition: str
) -> list[TableGroup]:
    """Assets of one model under one condition, task by task."""
    inputs = {suite: home.inputs(suite) for suite in {task.suite for task in tasks}}
    return [_evaluation_group(home, task, model, condition, inputs[task.suite]) for task in tasks]


def constants_groups(
    home: HomeContext, tasks: Sequence[Task], condition: str
) -> Iterator[TableGroup]:
    """Tables of the scores of constant responses, computed with the first evaluated model."""
    known = home.definitions().resolve_asset_graph().get_all_asset_keys()
    for task in tasks:
        key = dg.AssetKey([*questions_key(task, condition)[:-1], CONSTANTS])
        if key in known:
            of = dg.AssetSelection.assets(key)
            yield home.table_group(key.to_user_string(), of, home.inputs(task.suite))


def leaderboard_group(home: HomeContext) -> TableGroup:
    """The leaderboard: all models' tables and the papers' numbers."""
    from bench_assets.defs.checks.staleness import configuration_digest

    suites = home.catalog.suites
    question_keys = [evaluation_key(task, "main", "questions") for task in home.catalog.tasks]
    labels = [form.table("answers").split("/") for task in home.catalog.tasks
              if task.is_judged for form in task.response_tasks[:1]]  # fmt: skip
    read = [
        *question_keys,
        *labels,
        *(key.path for key in home.input_tables(asset_selections.LEADERBOARD)),
    ]
    locations = [(home.tables, key) for key in read]
    locations += [
        (others, evaluation_key(task, "main", name))
        for task in home.catalog.tasks
        for others in home.tables.elsewhere(task.suite)
        for name in ("questions", "metrics")
    ]
    states = [[tables.below(key), tables.states(key)] for tables, key in locations]
    home_folder = home.settings.home
    files = [*(suite.published for suite in suites if suite.published), home_folder / "draws.jsonl"]
    printed = home_digests(home_folder).of(file for file in files if file.exists())
    now = configuration_digest(home.catalog.tasks, home.settings, home.tables)
    facts = [
        *freshness.code_digests(home_folder, *suites, packages=freshness.LEADERBOARD_CODE),
        *printed,
        states,
        now,
    ]
    return home.table_group("leaderboard", asset_selections.LEADERBOARD, json_digest(facts))


def _evaluation_group(
    home: HomeContext, task: Task, model: str, condition: str, inputs: str
) -> TableGroup:
    known = home.definitions().resolve_asset_graph().get_all_asset_keys()
    selection = asset_selections.evaluation(task, condition, known)
    read = [
        home.tables.digest(key.path, part)
        for key in home.input_tables(selection)
        if key.path[-1] != CONSTANTS  # derived from the questions, in the same run
        for part in ("", model)
    ]
    chosen = home.settings.suite(task.suite, SuiteSettings)
    find = home.models.named
    model_state = state_of(model, home.settings, find) if task.asked_of == "model" else []
    judge = _judge_inputs(task, chosen.judge, home, model)
    compared = _regression_inputs(home, task, model, condition)
    review = Path(chosen.review) if chosen.review else None
    reviewed = sha256(review.read_bytes()).hexdigest() if review and review.is_file() else ""
    facts = [inputs, read, model_state, chosen.model_dump(), judge, compared, reviewed]
    return home.table_group(f"{task.name} {condition}", selection, json_digest(facts), model)


def _judge_inputs(task: Task, setting: str, home: HomeContext, evaluated: str) -> list[object]:
    """Inputs of the judge and of the reader."""
    find, settings = home.models.named, home.settings
    try:
        reader = configured_reader(task, settings, setting, find)
        model = reader_model(reader, evaluated, settings, find) if reader else ""
        reads = state_of(model, settings, find) if model else []
        name, model = task.chosen_judge(setting) if task.is_judged else ("", "")
        if name == PEOPLE:
            people = people_judge(task, settings)
            closed = bool(people.terms.until) and format_timestamp(people.now) > people.terms.until
            return [digest(people.answers), str(people.terms), closed]
    except (SettingsError, AnnotationError, UnknownNameError, ModelError):  # the run reports it
        model, reads = "", []
    return [*(state_of(model, settings, find) if model else []), *reads]


def _regression_inputs(home: HomeContext, task: Task, model: str, condition: str) -> list[object]:
    """Inputs of the regression check: other models' tables and the check's settings."""
    from bench_assets.core.schema.training_runs import comparison_models
    from bench_assets.defs.checks.staleness import CurrentConfiguration

    chosen, tables = home.settings.checkpoints, home.tables
    read = [evaluation_key(task, condition, name) for name in ("metrics", "scores")]
    models, written = tables.partitions(read[0]), partial(tables.written, read[0])
    others = comparison_models(model, models, written, chosen.baseline)
    now = CurrentConfiguration(home.settings).facts([task], others)
    digests = (_digest_or_error(tables, key, other) for other in others for key in read)
    return [chosen.model_dump(), *digests, now]


def _digest_or_error(tables: TableFiles, key: Sequence[str], model: str) -> str | None:
    """Digest of another model's table; if it is unreadable, the reason."""
    try:
        return tables.digest(key, model)
    except TableError as error:
        return str(error)
