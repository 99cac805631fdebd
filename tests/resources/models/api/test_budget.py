"""A budget stops the asking cleanly.

The test server counts 1 token read and 3 written a response.
"""

from typing import Any

import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.engine import ServerEngine
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.response_cache.rows import TokenCounts
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.server_engines import requests_for
from tests.fakes.stores import response_file

TWENTY = requests_for(*map(str, range(20)))
A_MILLION = 1_000_000  # money for a million tokens: 1 a token


def engine(server: ChatServer, spent: Any = None, **fields: Any) -> ServerEngine:
    whole = {"kind": "server", "base_url": server.base_url, "model": "m", "concurrency": 1}
    spec = ServerSpec.model_validate(whole | fields)
    return ServerEngine(spec, lambda _: b"", spent=spent or (lambda _: TokenCounts()))


@pytest.mark.parametrize(
    ("fields", "n_allowed"),
    [
        pytest.param({}, 20, id="without a budget all are asked"),
        pytest.param({"budget_tokens": 40}, 10, id="40 tokens are ten responses of four"),
        pytest.param({"budget": 5, "price_in": A_MILLION}, 5, id="5 for what is read"),
        pytest.param({"budget": 15, "price_out": A_MILLION}, 5, id="15 for what is written"),
        pytest.param({"budget": 15}, 20, id="without prices nothing costs anything"),
    ],
)
def test_what_the_budget_allows_is_sent(fields: dict[str, Any], n_allowed: int) -> None:
    with ChatServer() as server:
        responses = dict(engine(server, **fields).stream(TWENTY))
        assert server.n_requests == n_allowed
    assert [bool(responses[n].error) for n in range(20)] == [False] * n_allowed + [True] * (
        20 - n_allowed
    )


def test_what_is_under_way_is_not_thrown_away() -> None:
    with ChatServer(latency=0.02) as server:
        responses = dict(engine(server, budget_tokens=40, concurrency=4).stream(TWENTY))
        n_answered = sum(not response.error for response in responses.values())
        assert 10 <= n_answered <= 13  # three others are under way with the tenth
        assert server.n_requests == n_answered


def test_what_was_sent_before_counts(tmp_path: Any) -> None:
    store = response_file(tmp_path / "responses.sqlite")
    with ChatServer() as server:

        def ask(budget_tokens: int) -> list[str]:
            spent = store.tokens_of
            model = CachingModel("m", engine(server, spent, budget_tokens=budget_tokens), store)
            return [response.error for response in model.response(TWENTY)]

        assert ask(40).count("") == 10
        with pytest.raises(ModelError, match="40 of the budget_tokens of 40"):
            CachingModel("m", engine(server, store.tokens_of, budget_tokens=40), store).response(
                requests_for("another")
            )
        assert ask(60).count("") == 15
        assert server.n_requests == 15


def test_a_server_that_counts_no_tokens_gets_one_request() -> None:
    uncounted = Answer(raw=b'{"choices": [{"message": {"content": "A"}}]}')
    with ChatServer(lambda _: uncounted) as server:
        responses = dict(engine(server, budget_tokens=40).stream(TWENTY))
        assert server.n_requests == 1
    assert responses[0].text == "A"
    assert "no token counts" in responses[1].error
