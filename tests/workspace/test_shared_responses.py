"""Commands over a home that shares its responses, and a home that is moved there and back."""

from contextlib import closing

import pytest

from bench_assets.core.schema.chat import Response
from bench_assets.workspace.maintain.migration import migrate
from bench_assets.workspace.maintain.verification import verify
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.stores import open_response_store
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.response_cache.caching_model import CachingModel
from tests.fakes.chat_server import ChatServer
from tests.fakes.postgres_server import PASSWORD, postgres
from tests.fakes.server_engines import requests_for
from tests.fakes.stores import response_file
from tests.resources.response_cache.test_rows import Says, keep, row

psycopg = pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
pytestmark = pytest.mark.long


@pytest.fixture
def address(monkeypatch):
    with postgres() as server:
        monkeypatch.setenv("TEAM_DATABASE", server.address())
        yield server.address()


@pytest.fixture
def bench(tmp_path, address):
    (tmp_path / "quiz.jsonl").write_text('{"question": "?", "answer": "A"}')
    (tmp_path / "bench.toml").write_text(
        '[storage]\ndatabase = "env:TEAM_DATABASE"\n[benchmarks.quiz]\nfile = "quiz.jsonl"\n'
    )
    with Workbench(load_settings(tmp_path), ["quiz"]) as opened:
        yield opened


def found(bench):
    shared = [one for one in verify(bench) if "shared" in one.what]
    return {(one.what, one.state): one.n for one in shared}


def test_verify_reads_what_is_shared(bench, address):
    store = open_response_store(bench.settings)
    keep(store, row("a"), row("b"), row("c"))
    # the prompt of these rows is the digest of another text
    assert found(bench) == {("shared responses", "whole"): 3, ("shared prompts", "damaged"): 1}
    with psycopg.connect(address) as db:
        db.execute("UPDATE responses SET seconds = 9")
    assert found(bench)["shared responses", "damaged"] == 3
    assert ("shared responses", "whole") not in found(bench)


def test_a_database_that_is_away_is_reported_by_verify(bench, monkeypatch):
    monkeypatch.setenv("TEAM_DATABASE", "postgresql://nobody@127.0.0.1/nowhere?port=invalid")
    assert found(bench) == {("shared database", "missing"): 1}


def test_a_home_is_moved_there_and_back_and_no_request_is_repeated(bench, address):
    home, requests = bench.settings.home, requests_for(*map(str, range(2_500)))
    engine = Says(Response(text="A", seconds=1 / 3), Response(text="a\0"))
    responses = CachingModel("m", engine, response_file(home / "responses.sqlite")).response(
        requests
    )
    for _ in range(2):  # begun again, it comes to the same
        there = migrate(bench.settings, back=False)
        assert (there.responses, there.prompts, there.left_out) == (2_500, 2_500, 0)
    assert PASSWORD not in there.target
    assert (
        CachingModel("m", engine, open_response_store(bench.settings)).response(requests)
        == responses
    )
    (home / "responses.sqlite").rename(home / "moved-away.sqlite")
    back = migrate(bench.settings, back=True)
    assert (back.responses, back.prompts) == (2_500, 2_500)
    again = response_file(home / "responses.sqlite")
    assert CachingModel("m", engine, again).response(requests) == responses
    assert len(engine.requests) == 2_500
    before = sorted(response_file(home / "moved-away.sqlite").rows(), key=lambda one: one["key"])
    assert sorted(again.rows(), key=lambda one: one["key"]) == before


def test_two_homes_ask_a_server_once_and_share_its_budget(tmp_path, address):
    def ask(home, *texts):
        (tmp_path / home).mkdir(exist_ok=True)
        (tmp_path / home / "bench.toml").write_text(
            '[storage]\ndatabase = "env:TEAM_DATABASE"\n[models.m]\nkind = "server"\nmodel = "m"\n'
            f'base_url = "{server.base_url}"\nbudget_tokens = 10\nconcurrency = 1\n'
        )
        settings = load_settings(tmp_path / home)
        image_store = ImageStore(folder=str(tmp_path / home / "images"))
        with (
            closing(Models(settings=settings, image_store=image_store)) as models,
            models.open("m") as model,
        ):
            return [
                response.text or response.error for response in model.response(requests_for(*texts))
            ]

    with ChatServer() as server:  # four tokens a response
        assert ask("one", "a", "b") == ask("other", "a", "b")
        assert server.n_requests == 2
        texts = ask("other", "a", "b", "c", "d", "e")
        assert server.n_requests == 3
        assert [text.startswith("not sent: 12 of the budget") for text in texts[3:]] == [True] * 2
        assert not (tmp_path / "one" / "responses.sqlite").exists()
