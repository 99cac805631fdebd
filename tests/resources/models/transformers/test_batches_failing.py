"""What cannot be read, weighed or answered in a batch costs only itself."""

import jinja2
import pytest
from PIL import Image as PILImage

from bench_assets.core.schema.chat import Prompt, Request, Response, Turn
from bench_assets.core.schema.errors import ModelError
from bench_resources.models.workers.local_model import Draw
from tests.resources.models.transformers.echoing import Echo, ask, batches
from tests.resources.models.transformers.tiny_engine import ALBUM, BLUE, RED


@pytest.mark.parametrize(
    "raised",
    [
        pytest.param(KeyError("pixel_values"), id="KeyError"),
        pytest.param(jinja2.TemplateError("no"), id="an error of a template"),
    ],
)
@pytest.mark.parametrize("where", ["at_prepare", "at_answer"])
def test_any_exception_costs_only_its_own_request(where: str, raised: Exception) -> None:
    def fail(texts: list[str]) -> None:
        if "odd" in texts:
            raise raised

    echo = Echo()
    setattr(echo, where, fail)
    texts = ["a", "b", "odd", "c", "d", "e", "f"]
    responses = ask(echo, *map(Prompt.of, texts), batch_size=4)
    assert [response.text for response in responses] == ["A", "B", "", "C", "D", "E", "F"]
    assert [response.error for response in responses if response.error] == [str(raised)]


@pytest.mark.parametrize("where", ["at_prepare", "at_answer"])
def test_a_model_that_cannot_be_asked_stops_all(where: str) -> None:
    def fail(texts: list[str]) -> None:
        raise ModelError("the device is gone")

    echo = Echo()
    setattr(echo, where, fail)
    with pytest.raises(ModelError, match="the device is gone"):
        ask(echo, *map(Prompt.of, "abc"), batch_size=1)


@pytest.mark.parametrize(
    "raised",
    [
        pytest.param(PILImage.DecompressionBombError("too many pixels"), id="a bomb"),
    ],
)
def test_a_image_that_cannot_be_read_costs_only_its_own_question(raised: Exception) -> None:
    def read(digest: str) -> bytes:
        if digest == BLUE.sha256:
            raise raised
        return ALBUM.read(digest)

    requests = [Request(prompt=Prompt.of(image, "a")) for image in (RED, BLUE, RED)]
    responses = dict(batches(Echo(), read).stream(requests))
    assert [responses[n].text for n in range(3)] == ["A", "", "A"]
    assert responses[1].error == str(raised)


def test_images_that_cannot_be_weighed_cost_only_their_own_question() -> None:
    def weigh(image: PILImage.Image) -> int:
        return 1 // (64 - image.width)

    echo = Echo()
    echo.weigh = weigh
    red, blue = ask(echo, Prompt.of(RED, "a"), Prompt.of(BLUE, "b"))
    assert (red.text, red.error) == ("A", "")
    assert "division" in blue.error


def test_a_turn_that_failed_is_the_error_of_the_whole_conversation() -> None:
    class FailingFirst(Echo):
        def answer(self, prepared: list[str], draw: Draw) -> list[Response]:
            first = len(self.asked) == 0
            said = super().answer(prepared, draw)
            return [Response(error="NaN") for _ in said] if first else said

    (response,) = ask(FailingFirst(), Prompt((Turn("user", ("one",)), Turn("user", ("two",)))))
    assert response == Response(error="NaN")
