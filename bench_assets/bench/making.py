"""What is made together on a home folder, and what goes into it.

An evaluation is made of the tables that it reads, by content; of all that goes into the questions;
and of who is asked and who judges, by their settings and files.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

import dagster as dg

from bench_assets.bench import freshness, selections
from bench_assets.bench.freshness import Making
from bench_assets.bench.printing import say
from bench_assets.catalog import Catalog
from bench_assets.core.errors import SettingsError, TableError
from bench_assets.evaluation import evaluation_key
from bench_assets.graph.regression import compared_with
from bench_assets.graph.staleness import Configured, configured_state
from bench_assets.suite import SuiteSettings
from bench_assets.task import Task
from resources.home.file_digests import digests_in
from resources.home.file_states import digest_of
from resources.home.tables import TableFiles
from resources.models.state import state_of
from resources.settings.bench_toml import Settings
from resources.settings.settings_file import SettingsFile
from resources.settings.stores import blobs_of
from resources.sources.source_files import SourceFiles


class Home(NamedTuple):
    """Where things are made: the graph, where its tables lie, and what the user chose."""

    definitions: dg.Definitions
    catalog: Catalog
    tables: TableFiles
    settings: Settings
    sources: SourceFiles

    def making(
        self, name: str, selection: dg.AssetSelection, made_of: str, model: str = ""
    ) -> Making:
        """Put together what is known."""
        return Making(
            name=name,
            keys=frozenset(selection.resolve(self.definitions.resolve_asset_graph())),
            made_of=made_of,
            model=model,
            tables=self.tables,
            pictures=blobs_of(self.settings, "images").folder,
        )

    def inputs(self, suite: str) -> str:
        """Digest what a suite's question tables are made of."""
        source = self.sources.open(suite)
        return freshness.inputs(self.settings, self.catalog.suite(suite), source)

    def read_by(self, selection: dg.AssetSelection) -> list[dg.AssetKey]:
        """What assets read that others made."""
        graph = self.definitions.resolve_asset_graph()
        keys = selection.resolve(graph)
        return sorted({parent for key in keys for parent in graph.get(key).parent_keys} - keys)


def questions(home: Home, name: str) -> Making:
    """All that does not depend on a model, of a suite or one of its tasks."""
    suite = home.catalog.suite(name).name
    return home.making(name, selections.left_half(name), home.inputs(suite))


def questions_when_asked(home: Home, key: dg.AssetKey) -> Making:
    """A question table that building its suite leaves out."""
    selection = dg.AssetSelection.assets(key)
    return home.making(key.to_user_string(), selection, home.inputs(key.path[0]))


def evaluations(home: Home, tasks: Sequence[Task], model: str, condition: str) -> list[Making]:
    """What comes of asking one model under one condition, task by task."""
    inputs = {suite: home.inputs(suite) for suite in {task.suite for task in tasks}}
    return [_evaluation(home, task, model, condition, inputs[task.suite]) for task in tasks]


def leaderboard(home: Home) -> Making:
    """The leaderboard: of the tables of all models, and of the papers' numbers."""
    suites = home.catalog.suites
    asked = [evaluation_key(task, "main", "questions") for task in home.catalog.tasks]
    read = [*asked, *(key.path for key in home.read_by(selections.LEADERBOARD))]
    lie = [(home.tables, key) for key in read]
    lie += [
        (others, evaluation_key(task, "main", name))
        for task in home.catalog.tasks
        for others in home.tables.elsewhere(task.suite)
        for name in ("questions", "metrics")
    ]
    states = [[tables.below(key), tables.states(key)] for tables, key in lie]
    here = home.settings.home
    printed = digests_in(here).of(suite.published for suite in suites if suite.published)
    now = configured_state(home.catalog.tasks, home.settings, home.tables)
    facts = [*freshness.code(here, *suites), freshness.packages(), *printed, states, now]
    return home.making("leaderboard", selections.LEADERBOARD, digest_of(facts))


def note(made: Iterable[Making], before: Settings, file: SettingsFile) -> None:
    """Note that all was made as the home is configured, unless that changed meanwhile.

    A run reads bench.toml as it goes: what it made is then of neither text.
    """
    if _is_configured_as(before, file):
        for one in made:
            one.note()
    else:
        say(f"{before.file} was changed meanwhile: what was just made is made again next time")


def _is_configured_as(before: Settings, file: SettingsFile) -> bool:
    """Whether a home is; models that others added do not count."""
    try:
        now = file.load()
    except SettingsError:
        return False
    others = vars(now) | {"models": before.models}
    return others == vars(before) and before.models.items() <= now.models.items()


def _evaluation(home: Home, task: Task, model: str, condition: str, inputs: str) -> Making:
    graph = home.definitions.resolve_asset_graph()
    selection = selections.evaluation(task, condition, graph)
    read = [
        home.tables.digest(key.path, part)
        for key in home.read_by(selection)
        for part in ("", model)
    ]
    chosen = home.settings.suite(task.suite, SuiteSettings)
    asked = state_of(model, home.settings) if task.asked_of == "model" else []
    judge = _state_of_judge(task, chosen.judge, home.settings)
    compared = _compared(home, task, model, condition)
    facts = [inputs, read, asked, chosen.model_dump(), judge, compared]
    return home.making(f"{task.name} {condition}", selection, digest_of(facts), model)


def _state_of_judge(task: Task, setting: str, settings: Settings) -> list[object]:
    try:
        model = task.chosen_judge(setting).model if task.is_judged else ""
    except SettingsError:  # the run will say so
        model = ""
    return state_of(model, settings) if model else []


def _compared(home: Home, task: Task, model: str, condition: str) -> list[object]:
    """What the regression check reads of other models, and how it compares."""
    chosen, tables = home.settings.checkpoints, home.tables
    read = [evaluation_key(task, condition, name) for name in ("metrics", "scores")]
    models, written = tables.partitions(read[0]), partial(tables.written, read[0])
    others = compared_with(model, models, written, chosen.baseline)
    now = Configured(home.settings).facts([task], others)
    digests = (_digest_or_why(tables, key, other) for other in others for key in read)
    return [chosen.model_dump(), *digests, now]


def _digest_or_why(tables: TableFiles, key: Sequence[str], model: str) -> str | None:
    """A table of another model that cannot be read does not keep this one from being made."""
    try:
        return tables.digest(key, model)
    except TableError as why:
        return str(why)
