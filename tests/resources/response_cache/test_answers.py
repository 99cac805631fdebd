"""What is asked is answered, remembered, counted and refused."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.response_cache.caching_model import CachingModel
from tests.resources.stores import response_file


class Shouting:
    """An engine that cannot answer "odd" and filters "bad"."""

    identity, decoding, peak_memory = "shouting", None, None

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        names = [str(request.prompt.turns[0].parts[0]) for request in requests]
        self.asked.append(names)
        for position, name in reversed(list(enumerate(names))):
            failed = {
                "odd": Response(error="odd"),
                "bad": Response(finish_reason="content_filter"),
                "400": Response(error="HTTP 400", refused="content filter"),
            }
            yield position, failed.get(name, Response(text=name.upper()))

    def close(self) -> None:
        """Nothing is held."""


def requests(names: str) -> list[Request]:
    return [Request(prompt=Prompt.of(name)) for name in names.split()]


def test_requests_are_answered_in_order_and_what_is_known_is_not_asked(tmp_path: Path) -> None:
    engine, told = Shouting(), []
    model = CachingModel("m", engine, response_file(tmp_path / "r"), lambda *n: told.append(n))
    model.response(requests("a"))
    told.clear()
    asked = requests("b b a c b odd")
    assert [response.text or response.error for response in model.response(asked)] == [
        "B",
        "B",
        "A",
        "C",
        "B",
        "odd",
    ]
    assert engine.asked == [["a"], ["b", "c", "odd"]]
    # of 6 requests, 4 are distinct, and one is remembered
    assert told == [(1, 1, 4), (2, 1, 4), (3, 1, 4), (4, 1, 4)]


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        pytest.param("odd odd odd", True, id="nothing came"),
        pytest.param("odd odd odd a", False, id="something came"),
    ],
)
def test_only_where_nothing_came_is_it_refused(tmp_path: Path, names: str, refused: bool) -> None:
    model = CachingModel("m", Shouting(), response_file(tmp_path / "r"))
    if refused:
        with pytest.raises(ModelError, match="all 1 requests failed: odd"):
            model.response(requests(names))
    else:
        assert [response.error for response in model.response(requests(names))].count("odd") == 3


@pytest.mark.parametrize("name", ["bad", "400"])
def test_what_a_filter_refuses_is_no_failure_and_asked_again(tmp_path: Path, name: str) -> None:
    engine = Shouting()
    model = CachingModel("m", engine, response_file(tmp_path / "r"))
    for _ in range(2):
        (response,) = model.response(requests(name))
        assert response.refusal == "content filter"
    assert engine.asked == [[name], [name]]
    with pytest.raises(ModelError, match="all 2 requests failed"):
        model.response(requests(f"{name} odd"))
