"""Asset selections: a suite's dataset build, a task's evaluation."""

from collections.abc import Sequence, Set

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import CONSTANTS, evaluation_key
from bench_assets.asset_factory.suite_assets import select_group
from bench_assets.evaluation.task import Task

REPORT = dg.AssetSelection.assets("report")
LEADERBOARD = select_group("leaderboard") - REPORT
CONSTANT_TABLES = dg.AssetSelection.tag("bench/stage", CONSTANTS)
_PER_MODEL = dg.AssetSelection.tag("bench/per", "model")


def on_demand(suite: str) -> dg.AssetSelection:
    """Select the assets built only on demand: for a condition, or for annotation."""
    tagged = select_group(suite) & dg.AssetSelection.tag("bench/when", "asked")
    return (select_group(f"{suite}_ablations") | tagged) - _PER_MODEL


def dataset_build(name: str) -> dg.AssetSelection:
    """Select the assets of a suite or task that every evaluation reads, whatever the model."""
    suite, _, task = name.partition("/")
    left = select_group(suite) - _PER_MODEL - on_demand(suite) - CONSTANT_TABLES
    own_selection = (left & dg.AssetSelection.key_prefixes(name.split("/"))).upstream()
    return own_selection.required_multi_asset_neighbors() & left if task else left


def condition_inputs(task: Task, condition: str, known: Set[dg.AssetKey]) -> dg.AssetSelection:
    """Select the assets that one condition needs beyond the dataset build, such as captions."""
    read = evaluation(task, condition, known).upstream()
    return read & on_demand(task.suite) - CONSTANT_TABLES


def evaluation(task: Task, condition: str, known: Set[dg.AssetKey]) -> dg.AssetSelection:
    """Select the assets of one evaluation: shared tables and the task's own.

    Args:
        task: The evaluated task.
        condition: "main", or an ablation.
        known: Keys of all assets.
    """
    if task.condition(condition) and condition != "main":
        tables = ("predictions", "judgements", "scores", "metrics")
        keys = {dg.AssetKey(evaluation_key(task, condition, table)) for table in tables}
        return dg.AssetSelection.assets(*(keys & known))
    per_model = dg.AssetSelection.tag("bench/per", task.asked_of)
    ablations = select_group(f"{task.suite}_ablations")
    return (dg.AssetSelection.key_prefixes(task.name.split("/")) & per_model) - ablations


def tasks_of_one_kind(tasks: Sequence[Task]) -> list[Task]:
    """Drop encoder tasks, unless there are no others."""
    return [task for task in tasks if task.asked_of == "model"] or list(tasks)
