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
    """Select the assets that build the questions of a suite or task."""
    suite, _, task = name.partition("/")
    suite_assets = select_group(suite) - _PER_MODEL - on_demand(suite) - CONSTANT_TABLES
    with_inputs = (suite_assets & dg.AssetSelection.key_prefixes(name.split("/"))).upstream()
    return with_inputs.required_multi_asset_neighbors() & suite_assets if task else suite_assets


def condition_inputs(task: Task, condition: str, all_keys: Set[dg.AssetKey]) -> dg.AssetSelection:
    """Select the assets that one condition needs beyond the dataset build, such as captions."""
    inputs = evaluation(task, condition, all_keys).upstream()
    return inputs & on_demand(task.suite) - CONSTANT_TABLES


def evaluation(task: Task, condition: str, all_keys: Set[dg.AssetKey]) -> dg.AssetSelection:
    """Select the assets of one evaluation; of an ablation, those among ``all_keys``."""
    task.condition(condition)  # raises if the task does not have it
    if condition != "main":
        tables = ("predictions", "judgements", "scores", "metrics")
        keys = {dg.AssetKey(evaluation_key(task, condition, table)) for table in tables}
        return dg.AssetSelection.assets(*(keys & all_keys))
    per_model = dg.AssetSelection.tag("bench/per", task.asked_of)
    ablations = select_group(f"{task.suite}_ablations")
    return (dg.AssetSelection.key_prefixes(task.name.split("/")) & per_model) - ablations


def tasks_of_one_kind(tasks: Sequence[Task]) -> list[Task]:
    """Drop encoder tasks, unless there are no others."""
    return [task for task in tasks if task.asked_of == "model"] or list(tasks)
