"""What is asked in parts is answered, remembered, counted and refused as what is asked at once."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.response_cache.caching_model import CachingModel
from tests.resources.stores import response_file


class TwoAtOnce:
    """An engine that is handed two requests at once; it cannot answer "odd" and filters "bad"."""

    identity, decoding, peak_memory, at_once = "two", None, None, 2

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


def test_parts_are_answered_in_order_and_what_is_known_is_not_asked(tmp_path: Path) -> None:
    engine, told = TwoAtOnce(), []
    model = CachingModel("m", engine, response_file(tmp_path / "r"), lambda *n: told.append(n))
    model.response(requests("a"))
    told.clear()
    asked = requests("b b a c b odd")
    found = list(model.answers(asked))
    assert [request for request, _ in found] == asked
    assert [response.text or response.error for _, response in found] == [
        "B",
        "B",
        "A",
        "C",
        "B",
        "odd",
    ]
    assert engine.asked == [["a"], ["b"], ["c"], ["odd"]]
    # of 6, those come twice left out; what was known before its part was asked is remembered
    assert told == [(0, 0, 5), (1, 0, 5), (2, 1, 5), (3, 1, 5), (4, 2, 5), (5, 2, 5)]


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        pytest.param("odd odd odd", True, id="nothing came"),
        pytest.param("odd odd odd a", False, id="something came at last"),
        pytest.param("a odd odd odd", False, id="something came at first"),
    ],
)
def test_only_where_nothing_came_of_all_parts_is_it_refused(
    tmp_path: Path, names: str, refused: bool
) -> None:
    answers = CachingModel("m", TwoAtOnce(), response_file(tmp_path / "r")).answers
    if refused:
        with pytest.raises(ModelError, match="all 2 requests failed: odd"):
            list(answers(requests(names)))
    else:
        assert [response.error for _, response in answers(requests(names))].count("odd") == 3


@pytest.mark.parametrize("name", ["bad", "400"])
def test_what_a_filter_refuses_is_no_failure_and_asked_again(tmp_path: Path, name: str) -> None:
    engine = TwoAtOnce()
    model = CachingModel("m", engine, response_file(tmp_path / "r"))
    for _ in range(2):
        (response,) = model.response(requests(name))
        assert response.refusal == "content filter"
    assert engine.asked == [[name], [name]]
    with pytest.raises(ModelError, match="all 2 requests failed"):
        list(model.answers(requests(f"{name} odd")))


def test_what_came_before_an_asking_ends_is_kept(tmp_path: Path) -> None:
    engine, store = TwoAtOnce(), response_file(tmp_path / "r")
    answers = CachingModel("m", engine, store).answers(requests("a b c d"))
    assert next(answers)[1].text == "A"
    answers.close()
    again = CachingModel("m", engine, store).answers(requests("a b c d"))
    assert "".join(response.text for _, response in again) == "ABCD"
    assert engine.asked == [["a", "b"], ["c", "d"]]
