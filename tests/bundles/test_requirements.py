"""Responses are found by the signature of who gave them, though nobody is there any more."""

from collections.abc import Iterator, Sequence

import pytest

from bench_assets.bundles.requirements import CachedResponseModel
from bench_assets.core.schema.chat import (
    NOT_CACHED,
    Decoding,
    Image,
    Prompt,
    Request,
    Response,
)
from bench_resources.response_cache.caching_model import CachingModel
from tests.fakes.stores import response_file


class Echo:
    """An engine that says what it is asked, and how."""

    peak_memory = None

    def __init__(self, identity: str, decoding: Decoding | None) -> None:
        self.identity, self.decoding = identity, decoding

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for n, one in enumerate(requests):
            text = f"<t>hm</t>{one.prompt.turns[-1].parts[-1]} {one.sample} {one.temperature}"
            yield n, Response(text=text, finish_reason="stop", completion_tokens=3)

    def close(self) -> None:
        """Nothing is held."""


REQUESTS = [
    Request(prompt=Prompt.of("a")),
    Request(prompt=Prompt.of(Image("0" * 64), "b")),
    Request(prompt=Prompt.of("a"), sample=1),
    Request(prompt=Prompt.of("a"), sample=1, temperature=0.7),
]


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(Echo("sha256:0c,float32", Decoding(max_tokens=40)), id="greedy"),
        pytest.param(Echo("m@http://x|y", Decoding(temperature=0.3, seed=7)), id="drawn"),
        pytest.param(Echo("as it likes", None), id="as it likes"),
    ],
)
@pytest.mark.parametrize("tags", [None, ("<t>", "</t>")])
def test_what_was_responded_is_found_again(tmp_path, engine, tags):
    store = response_file(tmp_path / "responses.sqlite")
    model = CachingModel("m", engine, store, thinking_tags=tags)
    responses = model.response(REQUESTS)
    known = CachedResponseModel("m", model.signature, store)
    assert known.signature == model.signature
    assert known.response(REQUESTS) == responses
    assert {one.parts.answer[:1] for one in responses} == ({"<"} if tags is None else {"a", "b"})


@pytest.mark.parametrize("other", ["sha256:0d|t=0,max=1024", "sha256:0c|t=0,max=40", "sha256:0c"])
def test_responses_of_another_model_are_not_found(tmp_path, other):
    store = response_file(tmp_path / "responses.sqlite")
    CachingModel("m", Echo("sha256:0c", Decoding()), store).response(REQUESTS)
    found = CachedResponseModel("m", other, store).response(REQUESTS)
    assert [one.error for one in found[:3]] == [NOT_CACHED] * 3
