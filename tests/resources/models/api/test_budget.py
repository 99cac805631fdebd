"""A budget ends the requests of a run.

The test server counts 1 token of a prompt and 3 of a response: 4 a request.
"""

from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.engine import ServerEngine, Spent, no_tokens
from bench_resources.response_cache.caching_model import CachingModel
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.server_engines import requests_for
from tests.fakes.stores import response_file

TWENTY = requests_for(*map(str, range(20)))
A_MILLION = 1_000_000  # money for a million tokens: 1 a token


def engine(server: ChatServer, spent: Spent = no_tokens, **fields: Any) -> ServerEngine:
    defaults = {"kind": "server", "base_url": server.base_url, "model": "m", "concurrency": 1}
    spec = ServerSpec.model_validate(defaults | fields)
    return ServerEngine(spec, lambda _: b"", spent=spent)


@pytest.mark.parametrize(
    ("fields", "n_allowed"),
    [
        pytest.param({}, 20, id="without a budget all are sent"),
        pytest.param({"budget_tokens": 40}, 10, id="40 tokens are ten requests of four"),
        pytest.param({"budget": 5, "price_in": A_MILLION}, 5, id="5 for tokens of prompts"),
        pytest.param({"budget": 15, "price_out": A_MILLION}, 5, id="15 for tokens of responses"),
        pytest.param({"budget": 15}, 20, id="without prices nothing costs anything"),
    ],
)
def test_requests_are_sent_until_the_budget_is_spent(fields, n_allowed):
    with ChatServer() as server:
        responses = dict(engine(server, **fields).stream(TWENTY))
        assert server.n_requests == n_allowed
    refused = [position for position in range(20) if responses[position].error]
    assert refused == list(range(n_allowed, 20))


def test_responses_under_way_when_the_budget_is_spent_are_kept() -> None:
    with ChatServer(latency=0.02) as server:
        responses = dict(engine(server, budget_tokens=40, concurrency=4).stream(TWENTY))
        n_answered = sum(not response.error for response in responses.values())
        assert 10 <= n_answered <= 13  # three others are under way with the tenth
        assert server.n_requests == n_answered


def test_tokens_of_earlier_runs_count_towards_the_budget(tmp_path: Path) -> None:
    store = response_file(tmp_path / "responses.sqlite")
    with ChatServer() as server:

        def open_model(budget_tokens: int) -> CachingModel:
            budgeted = engine(server, store.tokens_of, budget_tokens=budget_tokens)
            return CachingModel("m", budgeted, store)

        first_run = open_model(40).response(TWENTY)
        assert [response.error for response in first_run].count("") == 10
        with pytest.raises(ModelError, match="40 of the budget_tokens of 40"):
            open_model(40).response(requests_for("another"))
        raised_budget = open_model(60).response(TWENTY)
        assert [response.error for response in raised_budget].count("") == 15
        assert server.n_requests == 15


def test_a_server_that_counts_no_tokens_gets_one_request_within_a_budget() -> None:
    uncounted = Answer(raw=b'{"choices": [{"message": {"content": "A"}}]}')
    with ChatServer(lambda _: uncounted) as server:
        responses = dict(engine(server, budget_tokens=40).stream(TWENTY))
        assert server.n_requests == 1
    assert responses[0].text == "A"
    assert "no token counts" in responses[1].error
