from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from bench_assets.core.schema.errors import HomeError, SettingsError, TableError
from bench_assets.core.schema.rows import Metric, Score
from bench_assets.workspace.evaluate.dry_run import dry_run
from bench_assets.workspace.materialization.backfill import (
    _evaluate_model,
    _outcomes,
    backfill,
    build_questions,
)
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.chat_server import ChatServer
from tests.fakes.codis_source import entry, write_release
from tests.fakes.quiz import TASK

MODELS = Path(__file__).with_name("backfill.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def server():
    """A server of a judge that calls everything right, and of models that respond "Opening."."""
    with ChatServer(lambda body: "right" if body["model"] == "judge" else "Opening.") as running:
        yield running


@pytest.fixture(scope="module")
def bench(tmp_path_factory, server):
    """Two pairs, which are four questions about one image; their tables are built."""
    folder = tmp_path_factory.mktemp("backfill")
    write_release(folder / "codis", [entry(), entry(id="001", question="Open or shut?")])
    home = folder / "home"
    home.mkdir()
    (home / "bench.toml").write_text(MODELS.format(url=server.base_url))
    with Workbench(load_settings(home), ["codis", "multi"]) as workbench:
        workbench.refresh_questions("codis")
        yield workbench


def test_suites_of_encoders_are_evaluated_although_those_of_models_fail():
    evaluated_suites = []

    def fail_to_evaluate(suites, model, condition):
        evaluated_suites.extend(suites)
        raise TableError(f"{suites[0]} fails")

    tasks = {"vqa": [TASK], "retrieval": [replace(TASK, asked_of="encoder")]}
    catalog = SimpleNamespace(tasks_of=tasks.get)
    fake_bench = cast(Workbench, SimpleNamespace(catalog=catalog, evaluate=fail_to_evaluate))
    result = _evaluate_model(fake_bench, "random", list(tasks), "main")
    assert evaluated_suites == ["vqa", "retrieval"]
    assert result.error == "vqa fails; retrieval fails"


def test_a_home_that_cannot_be_used_is_not_tried_again_for_each_task(bench, monkeypatch):
    built_names = []

    def refuse(name):
        built_names.append(name)
        raise HomeError("connection refused")

    monkeypatch.setattr(bench, "refresh_questions", refuse)
    with pytest.raises(HomeError, match="connection refused"):
        build_questions(bench, "blink")
    assert built_names == ["blink"]


def test_a_dry_run_needs_the_question_tables(tmp_path):
    with (
        Workbench(load_settings(tmp_path), ["codis"]) as bare,
        pytest.raises(
            TableError, match=r"codis/questions: no table yet.*`bench tables questions codis` makes"
        ),
    ):
        dry_run(bare, ["codis"], "random")


def test_a_dry_run_counts_what_an_evaluation_would_request_and_requests_nothing(bench, server):
    server.forget()
    model, judge = dry_run(bench, ["codis"], "priced")
    assert (model.asked, model.requests, model.cached) == ("model", 4, 0)
    assert 4400 < model.prompt_tokens < 5000  # each an image and 120 words of an instruction
    assert (model.completion_tokens, model.money) == (40, 40.0)  # 4 x max_tokens, at 1 each
    assert model.seconds is None
    assert (judge.asked, judge.model, judge.requests, judge.cached) == ("judge", "judge", 4, 0)
    assert server.n_requests == 0


def test_a_dry_run_after_the_evaluation_finds_every_response_stored(bench, server):
    bench.evaluate(["codis"], "priced")
    server.forget()
    estimates = dry_run(bench, ["codis"], "priced")
    assert [estimate.asked for estimate in estimates] == ["model", "judge"]
    for estimate in estimates:
        assert (estimate.requests, estimate.cached, estimate.money) == (4, 4, 0.0)
        assert (estimate.prompt_tokens, estimate.completion_tokens) == (0, 0)
        assert estimate.seconds == 0.0
    assert server.n_requests == 0


def test_a_dry_run_estimates_tokens_and_time_from_the_responses_so_far(bench):
    bench.evaluate(["codis"], "priced")
    estimate, _ = dry_run(bench, ["codis"], "priced", "no_context")
    assert (estimate.requests, estimate.cached) == (2, 0)  # each pair has the same question twice
    assert estimate.completion_tokens == 6  # the stored responses have three each
    assert estimate.seconds is not None
    assert 0 < estimate.seconds < 5


@pytest.mark.long
def test_a_model_that_cannot_respond_does_not_stop_the_others(bench):
    results = list(backfill(bench, ["away", "m", "m"], ["codis"], ["main", "no_context"]))
    assert [(result.model, result.condition, bool(result.error)) for result in results] == [
        ("away", "main", True),
        ("away", "no_context", True),
        ("m", "main", False),
        ("m", "no_context", False),
    ]
    assert "127.0.0.1:9/v1: cannot be reached" in results[0].error
    for table in (["codis", "metrics"], ["codis", "no_context", "metrics"]):
        measured_models = bench.tables.partitions(table)
        assert "m" in measured_models
        assert "away" not in measured_models


def test_the_reason_why_no_response_was_scored_is_its_error_or_note():
    assert outcomes_of([score(error="", note="unreadable")], n_refused=0) == [
        "no response was scored: unreadable"
    ]
    assert outcomes_of([score(error="the budget is spent", note="")], n_refused=0) == [
        "no response was scored: the budget is spent"
    ]


def test_one_refused_question_is_named_in_the_singular():
    assert outcomes_of([], n_refused=1) == [
        "1 question was permanently refused and counts as wrong"
    ]


def score(error, note):
    return Score(question_id="q", model="m", condition="main", points=None, error=error, note=note)


def outcomes_of(scores, n_refused):
    """Outcomes that are told of these scores, by a model that is no longer configured."""
    metric = SimpleNamespace(condition="main", model="m", n_refused=n_refused, signature="")
    tables = SimpleNamespace(read=lambda key, row_type, partition: scores)
    fake_bench = SimpleNamespace(tables=tables, model=fail_to_find)
    return list(_outcomes(cast(Workbench, fake_bench), TASK, cast(Metric, metric)))


def fail_to_find(name):
    raise SettingsError(f"no model {name}")
