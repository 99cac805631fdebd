from contextlib import closing
from operator import itemgetter

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
from tests.resources.response_cache.test_rows import ScriptedEngine, keep, row

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
    with Workbench(load_settings(tmp_path), ["quiz"]) as workbench:
        yield workbench


def shared_findings(bench):
    """Counts of what ``bench home verify`` says of the database, by name and state."""
    findings = [finding for finding in verify(bench) if "shared" in finding.what]
    return {(finding.what, finding.state): finding.n for finding in findings}


def test_verify_finds_damaged_rows_of_the_database(bench, address):
    store = open_response_store(bench.settings)
    keep(store, row("a"), row("b"), row("c"))
    # The prompt of these rows is the digest of another text.
    damaged_prompt = {("shared prompts", "damaged"): 1}
    assert shared_findings(bench) == {("shared responses", "whole"): 3, **damaged_prompt}
    with psycopg.connect(address) as db:
        db.execute("UPDATE responses SET seconds = 9")
    assert shared_findings(bench) == {("shared responses", "damaged"): 3, **damaged_prompt}


def test_verify_reports_a_database_that_cannot_be_reached(bench, monkeypatch):
    monkeypatch.setenv("TEAM_DATABASE", "postgresql://nobody@127.0.0.1/nowhere?port=invalid")
    assert shared_findings(bench) == {("shared database", "missing"): 1}


def test_responses_move_to_the_database_and_back_and_no_request_is_repeated(bench):
    home, requests = bench.settings.home, requests_for(*map(str, range(2_500)))
    engine = ScriptedEngine(Response(text="A", seconds=1 / 3), Response(text="a\0"))

    def respond(store):
        return CachingModel("m", engine, store).response(requests)

    responses = respond(response_file(home / "responses.sqlite"))
    for _ in range(2):  # a migration that is repeated moves nothing twice
        result = migrate(bench.settings, back=False)
        assert (result.responses, result.prompts, result.left_out) == (2_500, 2_500, 0)
    assert PASSWORD not in result.target
    assert respond(open_response_store(bench.settings)) == responses

    (home / "responses.sqlite").rename(home / "original.sqlite")
    result = migrate(bench.settings, back=True)
    assert (result.responses, result.prompts) == (2_500, 2_500)
    returned = response_file(home / "responses.sqlite")
    assert respond(returned) == responses
    assert len(engine.requests) == 2_500
    original_rows = response_file(home / "original.sqlite").rows()
    by_key = itemgetter("key")
    assert sorted(returned.rows(), key=by_key) == sorted(original_rows, key=by_key)


@pytest.mark.usefixtures("address")
def test_two_homes_request_each_response_once_and_share_a_budget(tmp_path):
    def respond(home, *texts):
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
            responses = model.response(requests_for(*texts))
        return [response.text or response.error for response in responses]

    with ChatServer() as server:  # four tokens a response
        assert respond("one", "a", "b") == respond("other", "a", "b")
        assert server.n_requests == 2
        _, _, third, *others = respond("other", "a", "b", "c", "d", "e")
        assert server.n_requests == 3
        assert not third.startswith("not sent")
        assert len(others) == 2
        assert all(text.startswith("not sent: 12 of the budget") for text in others)
        assert not (tmp_path / "one" / "responses.sqlite").exists()
