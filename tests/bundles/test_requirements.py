from collections.abc import Iterator, Sequence

import pytest

from bench_assets.bundles.requirements import CachedResponseModel
from bench_assets.core.schema.chat import NOT_CACHED, Decoding, Image, Prompt, Request, Response
from bench_resources.response_cache.caching_model import CachingModel
from tests.fakes.stores import response_file


class EchoEngine:
    """An engine that responds with the text, draw and temperature of a request."""

    peak_memory = None

    def __init__(self, identity: str, decoding: Decoding | None) -> None:
        self.identity, self.decoding = identity, decoding

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for n, request in enumerate(requests):
            prompt_text = request.prompt.turns[-1].parts[-1]
            text = f"<t>hm</t>{prompt_text} {request.sample} {request.temperature}"
            yield n, Response(text=text, finish_reason="stop", completion_tokens=3)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


REQUESTS = [
    Request(prompt=Prompt.of("a")),
    Request(prompt=Prompt.of(Image("0" * 64), "b")),
    Request(prompt=Prompt.of("a"), sample=1),
    Request(prompt=Prompt.of("a"), sample=1, temperature=0.7),
]


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(EchoEngine("sha256:0c,float32", Decoding(max_tokens=40)), id="greedy"),
        pytest.param(EchoEngine("m@http://x|y", Decoding(temperature=0.3, seed=7)), id="sampled"),
        pytest.param(EchoEngine("as it likes", None), id="unknown decoding"),
    ],
)
@pytest.mark.parametrize(("tags", "first_chars"), [(None, {"<"}), (("<t>", "</t>"), {"a", "b"})])
def test_responses_of_a_removed_model_are_found(tmp_path, engine, tags, first_chars):
    store = response_file(tmp_path / "responses.sqlite")
    model = CachingModel("m", engine, store, thinking_tags=tags)
    responses = model.response(REQUESTS)
    cached = CachedResponseModel("m", model.signature, store)
    assert cached.signature == model.signature
    assert cached.response(REQUESTS) == responses
    assert {response.parts.answer[:1] for response in responses} == first_chars


@pytest.mark.parametrize(
    "signature", ["sha256:0d|t=0,max=1024", "sha256:0c|t=0,max=40", "sha256:0c"]
)
def test_responses_of_another_model_are_not_found(tmp_path, signature):
    store = response_file(tmp_path / "responses.sqlite")
    CachingModel("m", EchoEngine("sha256:0c", Decoding()), store).response(REQUESTS)
    responses = CachedResponseModel("m", signature, store).response(REQUESTS)
    assert [response.error for response in responses] == [NOT_CACHED] * len(REQUESTS)
