"""What comes out of an engine and is no response is that request's error; the rest goes on."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.chat import Decoding, Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.base import PriceSection
from bench_resources.models.api.budget import WithinBudget
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.response_cache.store import ResponseStore
from tests.resources.models.api.asking import requests_for
from tests.resources.stores import response_file


class Saying:
    """An engine that gives what it is told to, right or wrong."""

    identity, decoding, peak_memory = "saying", Decoding(), None

    def __init__(self, *arrivals: tuple[int, Any]) -> None:
        self.arrivals = arrivals
        self.n_asked = 0

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        self.n_asked += len(requests)
        yield from self.arrivals

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def store(tmp_path: Path) -> ResponseStore:
    return response_file(tmp_path / "responses.sqlite")


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("B", id="a bare text"),
        pytest.param(Response(text="\ud83d"), id="half a character"),
        pytest.param(Response(text=None), id="no text"),  # type: ignore[arg-type]
        pytest.param(Response(text="B", finish_reason=5), id="a number for the reason"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_response_is_an_error_of_its_request(store: ResponseStore, said: object) -> None:
    model = CachingModel("m", Saying((1, said), (0, Response(text="A"))), store)
    first, second = model.response(requests_for("a", "b"))
    assert (first.text, second.text) == ("A", "")
    assert second.error.startswith("not a response: ")
    again = Saying((0, Response(text="B")))
    assert CachingModel("m", again, store).response(requests_for("a", "b"))[1].text == "B"
    assert again.n_asked == 1


@pytest.mark.parametrize("tokens", ["12", 2**63, 2**70, float(2**70), -1, 1.5, True, [3], {"a": 3}])
def test_a_number_of_tokens_of_any_kind_blocks_nothing(store: ResponseStore, tokens: Any) -> None:
    odd = Response(text="A", prompt_tokens=tokens, completion_tokens=tokens, image_tokens=(tokens,))
    for _ in range(2):
        (response,) = CachingModel("m", Saying((0, odd)), store).response(requests_for("a"))
        assert response == Response(text="A")
    budgeted = WithinBudget(
        Saying((0, odd)),
        PriceSection(kind="k", budget_tokens=5),
        lambda _: store.tokens_of("saying"),
    )
    assert list(budgeted.stream(requests_for("b"))) == [(0, Response(text="A"))]


def test_what_never_comes_is_an_error(store: ResponseStore) -> None:
    model = CachingModel("m", Saying((1, Response(text="B"))), store)
    first, second = model.response(requests_for("a", "b"))
    assert (first.error, second.text) == ("the engine returned no response", "B")


@pytest.mark.parametrize("position", [-1, 2, None], ids=["before the first", "too far", "none"])
def test_a_response_to_nothing_is_stored_nowhere(store: ResponseStore, position: Any) -> None:
    with pytest.raises(ModelError, match=r"a response to request .* of 2"):
        CachingModel("m", Saying((position, Response(text="B"))), store).response(
            requests_for("a", "b")
        )
    assert store.tokens_of("saying") == store.tokens_of("nobody")


def test_a_second_response_to_one_request_is_refused(store: ResponseStore) -> None:
    twice = Saying((0, Response(text="A")), (0, Response(text="B")))
    with pytest.raises(ModelError, match="a second response to request 0 of 1"):
        CachingModel("m", twice, store).response(requests_for("a"))


def test_a_prompt_with_half_a_character_can_be_stored_and_read(store: ResponseStore) -> None:
    request = Request(prompt=Prompt.of("\ud83d?"))
    for _ in range(2):
        (response,) = CachingModel("m", Saying((0, Response(text="A"))), store).response([request])
        assert response.text == "A"
    assert store.prompt(request.prompt.sha256) == '[["user",["\\ud83d?"]]]'
