"""A changed table requests the tables that were made of it before, and no others.

The first tables take seconds to make, so each test covers several changes.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import dagster as dg
import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.asset_factory.evaluation_tables import CONSTANTS
from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.rows import Question
from bench_assets.definitions import defs
from bench_assets.defs.checks.table_checks import task_checks
from bench_resources.tables.parquet import table_output
from bench_sensors.changes import with_automation
from tests.fakes.quiz import TASK, quiz, resources_over
from tests.sensors.watched import record_materialization

ALOUD = replace(TASK.conditions["main"], about="Asked aloud.")
QUIZ = replace(TASK, conditions={**TASK.conditions, "aloud": ALOUD})
RIDDLES = replace(TASK, name="riddles")
TABLES = ["metrics", "predictions", "scores"]


class Bench:
    """Two suites, quiz and riddles, their leaderboard, and what a tick requests."""

    def __init__(self, home: Path, instance: dg.DagsterInstance) -> None:
        self.instance = instance
        self.questions = {"quiz": quiz(3), "riddles": quiz(3)}
        self._cursor: Any = None
        self._defs = dg.Definitions(
            assets=[
                *map(self._questions_asset, self.questions),
                *evaluation_assets(QUIZ),
                *evaluation_assets(QUIZ, "aloud"),
                *evaluation_assets(RIDDLES),
                self._leaderboard_asset(),
            ],
            asset_checks=[check for task in (QUIZ, RIDDLES) for check in task_checks(task)],
            resources=resources_over(home),
        ).map_asset_specs(func=with_automation)
        self.tick()

    def build(self, suite: str, questions: list[Question] | None = None) -> None:
        """Materialize a question table, with new or the present questions, and its constants."""
        self.questions[suite] = self.questions[suite] if questions is None else questions
        self._run([[suite, "questions"]])
        self._run([[suite, CONSTANTS]])

    def evaluate(self, model: str, *prefix: str, tables: list[str] = TABLES) -> None:
        self.instance.add_dynamic_partitions("model", [model])
        self._run([[*prefix, table] for table in tables], model)

    def make_leaderboard(self) -> None:
        self._run([["leaderboard"]])

    def tick(self) -> list[str]:
        """Evaluate the conditions, and return the requested tables with their models."""
        # As Dagster's daemon does; without a cache, partitions are read thousands of times.
        cached_partitions = cache(self.instance.get_dynamic_partitions)
        with patch.object(self.instance, "get_dynamic_partitions", cached_partitions):
            result = dg.evaluate_automation_conditions(
                self._defs, self.instance, cursor=self._cursor
            )
        self._cursor = result.cursor
        keys = self._defs.resolve_asset_graph().get_all_asset_keys()
        return sorted(
            f"{key.to_user_string()} {partition or ''}".strip()
            for key in keys
            for partition in result.get_requested_partitions(key)
        )

    def _run(self, keys: list[list[str]], model: str | None = None) -> None:
        self._defs.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=self.instance,
            asset_selection=list(map(dg.AssetKey, keys)),
            partition_key=model,
            raise_on_error=False,
        )

    def _questions_asset(self, suite: str) -> dg.AssetsDefinition:
        @dg.asset(key=[suite, "questions"])
        def questions() -> dg.Output[list[Question]]:
            return table_output(self.questions[suite])

        return questions

    def _leaderboard_asset(self) -> dg.AssetsDefinition:
        @dg.asset(deps=[["quiz", "metrics"], ["riddles", "metrics"]], group_name="leaderboard")
        def leaderboard() -> None: ...

        return leaderboard


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    names = ("a", "b", "c", "d")
    lines = [f'[models.{name}]\nkind = "scripted"\nsays = "{name}"\n' for name in names]
    (tmp_path / "bench.toml").write_text("".join(lines))
    with dg.DagsterInstance.ephemeral() as instance:
        bench = Bench(tmp_path, instance)
        bench.build("quiz")
        bench.build("riddles")
        bench.evaluate("a", "quiz")
        bench.evaluate("b", "riddles")
        instance.add_dynamic_partitions("model", ["c"])
        assert bench.tick() == []
        yield bench


def model_tables(model: str, prefix: str = "quiz", tables: list[str] = TABLES) -> list[str]:
    return [f"{prefix}/{table} {model}" for table in tables]


def test_all_tables_of_models_have_automation_but_quick_evaluations() -> None:
    graph = defs.resolve_asset_graph()
    tables = graph.materializable_asset_keys
    per_model = {
        key
        for key in tables
        if isinstance(graph.get(key).partitions_def, dg.DynamicPartitionsDefinition)
    }
    automated = {key for key in graph.get_all_asset_keys() if graph.get(key).automation_condition}
    assert {key.path[-1] for key in per_model - automated} == {"quick_evaluation"}
    automated_without_model = {key for key in automated - per_model if key.path[-1] != CONSTANTS}
    assert {graph.get(key).group_name for key in automated_without_model} == {"leaderboard"}


def test_changed_questions_request_models_evaluated_before_once(bench: Bench) -> None:
    bench.build("quiz")
    assert bench.tick() == [], "the same questions again"
    bench.build("quiz", quiz(4))
    assert bench.tick() == model_tables("a")
    bench.build("quiz", quiz(5))
    assert bench.tick() == model_tables("a"), "a change between a request and the next tick is seen"
    assert bench.tick() == [], "a run that failed is not started again"
    bench.evaluate("a", "quiz", tables=["predictions"])
    assert bench.tick() == model_tables("a", tables=["metrics", "scores"]), "its run ended half way"


@pytest.mark.long
def test_failing_questions_request_no_model_and_retired_models_are_left_out(bench: Bench) -> None:
    bench.build("quiz", [*quiz(3), *quiz(1)])
    assert bench.tick() == [], "questions fail a blocking check"
    bench.build("quiz", quiz(4))
    assert bench.tick() == model_tables("a")
    bench.evaluate("a", "quiz", "aloud")
    bench.evaluate("b", "quiz")
    bench.tick()
    bench.build("quiz", quiz(5))
    expected = sorted([*model_tables("a", "quiz/aloud"), *model_tables("a"), *model_tables("b")])
    assert bench.tick() == expected, "an ablation is asked of those who were asked it before"
    bench.instance.delete_dynamic_partition(str(MODELS.name), "a")
    bench.build("quiz", quiz(6))
    assert bench.tick() == model_tables("b"), "a retired model is not asked"


@pytest.mark.long
def test_changed_metrics_request_the_leaderboard_once_it_exists(bench: Bench) -> None:
    bench.evaluate("b", "quiz")
    assert bench.tick() == []
    bench.make_leaderboard()
    bench.evaluate("nobody", "quiz")  # there is no such model
    bench.evaluate("c", "riddles")
    assert bench.tick() == ["leaderboard"], "one broken model does not freeze it"
    bench.make_leaderboard()
    bench.evaluate("c", "quiz")
    assert bench.tick() == ["leaderboard"], "metrics that change while it is gathered are seen"
    bench.make_leaderboard()
    assert bench.tick() == []
    bench.evaluate("c", "quiz")  # the same again
    assert bench.tick() == []
    bench.evaluate("a", "riddles")
    assert bench.tick() == ["leaderboard"]


@pytest.mark.parametrize(
    "n_models",
    [101, *(pytest.param(n_models, marks=pytest.mark.long) for n_models in (99, 100, 300))],
)
def test_one_changed_metric_of_many_models_requests_the_leaderboard(bench, n_models):
    names, metrics = [f"m{n}" for n in range(n_models - 3)], dg.AssetKey(["quiz", "metrics"])
    bench.instance.add_dynamic_partitions("model", names)
    for name in names:
        record_materialization(bench.instance, metrics, name)
    bench.tick()  # of more than 100 new tables Dagster takes the time of the tick
    bench.make_leaderboard()
    assert bench.tick() == []
    record_materialization(bench.instance, metrics, names[-1], content="2")
    assert bench.tick() == ["leaderboard"]
    bench.make_leaderboard()
    record_materialization(bench.instance, metrics, names[-1], content="2")
    assert bench.tick() == [], "the same again"
