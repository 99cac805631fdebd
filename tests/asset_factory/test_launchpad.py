from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest
from pydantic import ValidationError

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.asset_factory.partial_results import partial_tables
from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.errors import SettingsError, UnknownNameError
from bench_assets.core.schema.rows import Metric
from bench_assets.core.schema.signature import Signature
from bench_assets.evaluation.aggregation import blank_metric
from bench_assets.evaluation.task import RULES, ByModel, ByRules, Condition
from bench_resources.tables.parquet import TableFiles
from tests.fakes.chat_server import ChatServer
from tests.fakes.quiz import TASK, call_right, judge_right, questions_asset, quiz, resources_over

_TWICE = Condition(prompt=lambda q: Prompt.of(q.text * 2), about="Asked twice.")
JUDGED_TASK = replace(
    TASK,
    conditions={**TASK.conditions, "twice": _TWICE},
    judges={RULES: ByRules(call_right), "paper": ByModel(judge_right)},
)


def launch(home, config, task=JUDGED_TASK):
    """Evaluate a task of 60 questions with a launch configuration of its predictions."""
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(str(MODELS.name), ["m"])
        return dg.materialize(
            [questions_asset(quiz(60, categories=3)), *evaluation_assets(task)],
            partition_key="m",
            instance=instance,
            resources=resources_over(home),
            run_config={"ops": {"quiz__predictions": {"config": config}}},
        )


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    with ChatServer("A") as server:
        section = f'kind = "server"\nbase_url = "{server.base_url}"\nmodel = "x"\n'
        (tmp_path / "bench.toml").write_text(f"[models.m]\n{section}[models.j]\n{section}")
        yield tmp_path


def accuracy(tables: TableFiles, *key: str) -> Metric:
    (metric,) = (
        row
        for row in tables.read(["quiz", *key, "metrics"], Metric, "m")
        if (row.metric, row.category) == ("accuracy", "all")
    )
    return metric


def test_a_limit_stores_partial_metrics_only(home: Path) -> None:
    result = launch(home, {"limit": 20})
    assert result.success
    assert not result.asset_materializations_for_node("quiz__predictions")
    assert not TableFiles(folder=str(home / "tables")).exists(["quiz", "metrics"], "m")
    metric = accuracy(partial_tables(home))
    assert metric.n_scored == 20
    assert Signature.parse(metric.signature).parts["partial"] == "20 of 60 questions"
    (event,) = result.get_asset_observation_events()
    observation = event.asset_observation_data.asset_observation
    assert observation.description == "20 of 60 questions: not a number of the benchmark"


def test_metrics_beside_the_scores_are_partial_too(home: Path) -> None:
    def measure_length(_, model, questions, predictions):
        row = blank_metric(TASK, questions, model, {}, n_failed=0)
        return [replace(row, metric="length", value=float(len(predictions[0].text)))]

    assert launch(
        home, {"limit": 20}, task=replace(JUDGED_TASK, measure_beside=measure_length)
    ).success
    rows = partial_tables(home).read(["quiz", "metrics"], Metric, "m")
    (length,) = [row for row in rows if row.metric == "length"]
    assert length.value == 1.0  # of "A"
    assert Signature.parse(length.signature).parts["partial"] == "20 of 60 questions"


def test_the_signature_has_seed_condition_and_judge(home: Path) -> None:
    launch(home, {"limit": 6})
    plain = Signature.parse(accuracy(partial_tables(home)).signature)
    assert (plain.condition, plain.parts["judge"]) == ("main", RULES)
    assert "seed=" not in plain.parts["model"]
    launch(home, {"limit": 6, "seed": 3, "condition": "twice", "judge": "j"})
    changed = Signature.parse(accuracy(partial_tables(home), "twice").signature)
    assert changed.condition == "twice"
    assert changed.parts["model"].endswith("seed=3")
    assert changed.parts["judge"].startswith("j")
    assert changed.parts["partial"] == "6 of 60 questions, seed 3, condition twice, judge j"


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        ({"condition": "thrice"}, UnknownNameError, "no condition of quiz named 'thrice'"),
        ({"judge": "nobody"}, UnknownNameError, "no model in .* named 'nobody'"),
        ({"limit": -1}, ValidationError, "limit\n.*greater than or equal to 0"),
    ],
    ids=["an unknown condition", "an unknown judge", "a negative limit"],
)
def test_a_launch_with_an_invalid_setting_fails(home, config, error, message):
    with pytest.raises(error, match=message):
        launch(home, config)


def test_a_seed_for_a_model_without_one_fails(tmp_path: Path) -> None:
    (tmp_path / "bench.toml").write_text('[models.m]\nkind = "scripted"\nsays = "A"\n')
    with pytest.raises(SettingsError, match="a scripted model has no seed"):
        launch(tmp_path, {"seed": 1})
