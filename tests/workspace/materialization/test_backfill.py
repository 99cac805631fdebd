"""Dry runs, backfills and skipped builds over one small home folder with a counting server."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from bench_assets.core.schema.errors import HomeError, TableError
from bench_assets.workspace.evaluate.dry_run import dry_run
from bench_assets.workspace.materialization.backfill import (
    _evaluate_model,
    backfill,
    build_questions,
)
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.chat_server import ChatServer
from tests.fakes.codis_source import entry, write_release
from tests.fakes.quiz import TASK

MODELS = Path(__file__).with_name("backfill.toml").read_text(encoding="utf-8")


def opening(images, prompt):
    """A model in Python."""
    return "Opening."


@pytest.fixture(scope="module")
def server():
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
    with Workbench(load_settings(home), ["codis", "multi"]) as opened:
        opened.refresh_questions("codis")
        yield opened


def test_encoders_are_evaluated_though_the_model_of_their_name_fails():
    models = []

    def evaluate(names, model, condition):
        models.extend(names)
        raise TableError(f"{names[0]} fails")

    tasks = {kind: [replace(TASK, asked_of=kind)] for kind in ("model", "encoder")}
    fake = SimpleNamespace(catalog=SimpleNamespace(tasks_of=tasks.get), evaluate=evaluate)
    found = _evaluate_model(cast(Workbench, fake), "random", list(tasks), "main")
    assert (models, found.error) == (["model", "encoder"], "model fails; encoder fails")


def test_a_home_that_cannot_be_used_is_tried_once_for_all_tasks(bench, monkeypatch):
    tried = []

    def refused(name):
        tried.append(name)
        raise HomeError("connection refused")

    monkeypatch.setattr(bench, "refresh_questions", refused)
    with pytest.raises(HomeError, match="connection refused"):
        build_questions(bench, "blink")
    assert tried == ["blink"]


def test_a_dry_run_needs_the_question_tables(tmp_path):
    with (
        Workbench(load_settings(tmp_path), ["codis"]) as bare,
        pytest.raises(
            TableError, match=r"codis/questions: no table yet.*`bench tables questions codis` makes"
        ),
    ):
        dry_run(bare, ["codis"], "random")


def test_a_dry_run_says_what_an_evaluation_would_ask_and_asks_nothing(bench, server):
    server.forget()
    model, judge = dry_run(bench, ["codis"], "priced")
    assert (model.asked, model.requests, model.cached) == ("model", 4, 0)
    assert 4400 < model.prompt_tokens < 5000  # each an image and 120 words of an instruction
    assert (model.completion_tokens, model.money) == (40, 40.0)  # 4 x max_tokens, at 1 each
    assert model.seconds is None
    assert (judge.asked, judge.model, judge.requests, judge.cached) == ("judge", "judge", 4, 0)
    assert server.n_requests == 0

    bench.evaluate(["codis"], "priced")
    server.forget()
    for again in dry_run(bench, ["codis"], "priced"):
        assert (again.requests, again.cached, again.money) == (4, 4, 0.0)
        assert (again.prompt_tokens, again.completion_tokens, again.seconds) == (0, 0, 0.0)
    assert server.n_requests == 0

    other, _ = dry_run(bench, ["codis"], "priced", "no_context")  # the same question twice a pair
    assert (other.requests, other.cached) == (2, 0)
    assert other.completion_tokens == 6  # the responses so far have three
    assert other.seconds is not None
    assert 0 < other.seconds < 5


@pytest.mark.long
def test_one_model_that_cannot_respond_does_not_stop_the_others(bench):
    done = list(backfill(bench, ["away", "m", "m"], ["codis"], ["main", "no_context"]))
    assert [(one.model, one.condition, bool(one.error)) for one in done] == [
        ("away", "main", True),
        ("away", "no_context", True),
        ("m", "main", False),
        ("m", "no_context", False),
    ]
    assert "127.0.0.1:9/v1: cannot be reached" in done[0].error
    for condition in ([], ["no_context"]):
        measured = bench.tables.partitions(["codis", *condition, "metrics"])
        assert "m" in measured
        assert "away" not in measured
