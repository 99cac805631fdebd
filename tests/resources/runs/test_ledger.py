import sqlite3
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver
from dagster._core.loader import LoadingContextForTest

from bench_assets.core.schema.errors import HomeError
from bench_resources.runs.ledger import Ledger, last_observation, observe

MODELS = dg.DynamicPartitionsDefinition(name="model")
SOURCE, SETUP = dg.AssetKey("source_files"), dg.AssetKey("model_setup")
TABLES = [dg.AssetKey(name) for name in ("rejections", "questions", "predictions", "metrics")]
BOARD = dg.AssetKey("board")
DAGSTER_STATUSES = {  # Dagster's status -> states that agree with it
    "FRESH": {"current", "below"},
    "STALE": {"stale"},
    "MISSING": {"missing"},
}


class Bench:
    """A benchmark of five tables, whose content and code are set by the test."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self.instance = instance
        self.content: dict[str, str] = {}
        self.code: dict[str, str] = {}
        self.has_questions = True
        self.source = "1"
        self.setups: dict[str, str] = {}
        self.definitions = self._define()
        self.observe()

    def _define(self) -> dg.Definitions:  # noqa: C901 - seven definitions
        def version(name: str) -> dg.DataVersion:
            return dg.DataVersion(self.content.get(name, "1"))

        @dg.observable_source_asset(key=SOURCE)
        def source_files() -> dg.DataVersion:
            return dg.DataVersion(self.source)

        @dg.observable_source_asset(key=SETUP, partitions_def=MODELS)
        def model_setup() -> dg.DataVersionsByPartition:
            return dg.DataVersionsByPartition(self.setups)

        @dg.multi_asset(
            outs={
                "rejections": dg.AssetOut(code_version=self.code.get("build", "1")),
                "questions": dg.AssetOut(
                    code_version=self.code.get("build", "1"), is_required=False
                ),
            },
            deps=[SOURCE],
        )
        def build() -> Iterator[dg.Output[None]]:
            yield dg.Output(None, "rejections", data_version=version("rejections"))
            if self.has_questions:
                yield dg.Output(None, "questions", data_version=version("questions"))

        @dg.asset(deps=["questions", SETUP], partitions_def=MODELS, code_version="1")
        def predictions(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
            name = context.partition_key
            failed = {"bench/errors": 2} if self.content.get(name) == "failed" else {}
            return dg.MaterializeResult(data_version=version(name), metadata=failed)

        @dg.asset(
            deps=["predictions", "questions"],
            partitions_def=MODELS,
            code_version=self.code.get("metrics", "1"),
        )
        def metrics(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
            if self.content.get(context.partition_key) == "broken":
                raise ValueError
            return dg.MaterializeResult(data_version=version(f"metrics {context.partition_key}"))

        @dg.asset(deps=["metrics", SETUP])
        def board() -> None: ...

        assets: list[Any] = [source_files, model_setup, build, predictions, metrics, board]
        return dg.Definitions(assets=assets)

    @property
    def graph(self) -> Any:
        return self.definitions.resolve_asset_graph()

    def change_code(self, **versions: str) -> None:
        """Define the graph with other versions of code."""
        self.code |= versions
        self.definitions = self._define()

    def observe(self) -> int:
        """Report changed inputs, and return their number."""
        versions: dict[tuple[dg.AssetKey, str | None], str] = {(SOURCE, None): self.source}
        versions |= {(SETUP, name): version for name, version in self.setups.items()}
        changed = observe(versions, partial(last_observation, self.instance))
        for event in changed:
            self.instance.report_runless_asset_event(event)
        return len(changed)

    def make(self, *names: str, model: str | None = None) -> None:
        """Materialize tables, of a model if one is given; a failed run is no error."""
        if model and not self.instance.has_dynamic_partition("model", model):
            self.instance.add_dynamic_partitions("model", [model])
        self.definitions.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=self.instance,
            asset_selection=[dg.AssetKey(name) for name in names],
            partition_key=model,
            raise_on_error=False,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )

    def evaluate(self, *models: str) -> None:
        """Observe new models, and make the predictions and metrics of each."""
        for model in models:
            self.setups.setdefault(model, "1")
            self.observe()
            self.make("predictions", "metrics", model=model)

    def build(self) -> None:
        self.make("rejections", "questions")

    def states(self) -> dict[str, str]:
        """State of each table that is not current, by the ledger; compared with Dagster's own."""
        graph, states = self.graph, dict[str, str]()
        ledger = Ledger(self.instance, graph)
        resolver = CachingStaleStatusResolver(
            self.instance, graph, LoadingContextForTest(self.instance)
        )
        for key, model in self._parts(graph):
            status = ledger.status(key, model)
            dagster_status = resolver.get_status(key, model).value
            if status.state != "absent" and len(ledger.partitions(MODELS)) < 100:
                expected_states = DAGSTER_STATUSES[dagster_status]
                assert status.state in expected_states, f"{key} of {model}: {status}"
            if status.state != "current":
                states[f"{key.to_user_string()} {model or ''}".strip()] = status.state
        return states

    def due(self) -> set[str]:
        ledger = Ledger(self.instance, self.graph)
        models = self.instance.get_dynamic_partitions("model")
        evaluations = {
            f"{key.to_user_string()} {model}"
            for model in models
            for key in ledger.due(TABLES[2:], model)
        }
        return evaluations | {key.to_user_string() for key in ledger.due([*TABLES[:2], BOARD])}

    def _parts(self, graph: Any) -> Iterable[tuple[dg.AssetKey, str | None]]:
        for key in sorted(graph.materializable_asset_keys):
            is_partitioned = graph.get(key).is_partitioned
            models = self.instance.get_dynamic_partitions("model")
            yield from ((key, part) for part in (models if is_partitioned else [None]))


@pytest.fixture
def bench() -> Iterator[Bench]:
    with dg.DagsterInstance.ephemeral() as instance:
        bench = Bench(instance)
        bench.build()
        bench.evaluate("a", "b")
        bench.make("board")
        yield bench


DOWNSTREAM = {"predictions a", "predictions b", "metrics a", "metrics b", "board"}


def test_tables_without_a_materialization_are_missing() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        states = Bench(instance).states()
    assert states == dict.fromkeys(("board", "questions", "rejections"), "missing")


def test_the_tables_of_a_new_model_and_those_below_are_due() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        bench = Bench(instance)
        bench.build()
        instance.add_dynamic_partitions("model", ["a"])
        assert bench.due() == {"predictions a", "metrics a", "board"}


def test_a_changed_source_is_observed_once_and_makes_tables_stale(bench: Bench) -> None:
    bench.source = "2"
    assert [bench.observe() for _ in range(2)] == [1, 0]
    stale = dict.fromkeys(("questions", "rejections"), "stale")
    assert bench.states() == stale | dict.fromkeys(DOWNSTREAM, "below")
    assert bench.due() == {"questions", "rejections"}
    bench.build()
    assert bench.states() == {}, "the same questions again"
    bench.source = "1"
    bench.observe()
    bench.content["questions"] = "2"
    bench.build()
    evaluations = DOWNSTREAM - {"board"}
    assert bench.states() == dict.fromkeys(evaluations, "stale") | {"board": "below"}
    assert bench.due() == evaluations
    bench.evaluate("a", "b")
    assert bench.states() == {}, "metrics are the same"


def test_a_changed_code_version_makes_a_table_stale(bench: Bench) -> None:
    bench.change_code(metrics="2")
    stale = {"metrics a": "stale", "metrics b": "stale", "board": "below"}
    assert bench.states() == stale
    bench.evaluate("a")
    assert bench.due() == {"metrics b"}
    bench.change_code(build="2")
    assert bench.due() == {"metrics b", "questions", "rejections"}


def test_a_changed_model_setup_makes_only_its_tables_stale(bench: Bench) -> None:
    bench.setups["b"] = "2"
    assert bench.observe() == 1
    assert bench.states() == {"predictions b": "stale", "metrics b": "below", "board": "stale"}
    bench.content["b"] = "2"
    bench.make("predictions", model="b")
    assert bench.due() == {"metrics b", "board"}


def test_failed_requests_and_tables_of_failed_runs_are_due(bench: Bench) -> None:
    bench.content["a"] = "failed"
    bench.evaluate("a")
    assert Ledger(bench.instance, bench.graph).due(TABLES, "a") == {
        dg.AssetKey("predictions"): "2 failed requests"
    }
    bench.content["a"] = "broken"
    bench.evaluate("a")
    assert "its run failed" in Ledger(bench.instance, bench.graph).due(TABLES, "a").values()
    del bench.content["a"]
    bench.evaluate("a")
    assert bench.due() == set()


def test_a_table_that_its_step_left_out_is_absent(bench: Bench) -> None:
    bench.source, bench.has_questions = "2", False
    bench.observe()
    bench.build()
    assert bench.states()["questions"] == "absent"
    assert not {"questions", "rejections"} & bench.due()


@pytest.mark.parametrize(
    "n_models",
    [9, *(pytest.param(n_models, marks=pytest.mark.long) for n_models in (99, 100, 101, 300))],
)
def test_only_changed_models_of_many_are_due(bench: Bench, n_models: int) -> None:
    names = [f"m{n}" for n in range(n_models - 2)]
    bench.evaluate(*names)
    bench.make("board")
    assert (bench.states(), bench.due()) == ({}, set())
    bench.setups |= {"m3": "2", names[-1]: "2"}
    assert bench.observe() == 2
    assert bench.due() == {"predictions m3", f"predictions {names[-1]}", "board"}
    bench.content |= {"metrics m3": "2"}
    bench.evaluate("m3", names[-1])
    assert bench.due() == {"board"}
    bench.make("board")
    assert bench.due() == set()
    bench.content |= {"metrics m5": "2"}
    bench.make("metrics", model="m5")
    assert bench.states() == {"board": "stale"}


def test_damaged_records_are_an_error_that_names_the_folder(tmp_path):
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        bench = Bench(instance)
        bench.build()
        with sqlite3.connect(tmp_path / "history/runs/index.db") as index:
            index.execute("UPDATE asset_keys SET last_materialization = '[' || char(0)")
        with pytest.raises(HomeError, match=rf"^{tmp_path}: Dagster's records cannot be read \("):
            Ledger(instance, bench.graph).due(TABLES[:2])
