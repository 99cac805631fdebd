from dataclasses import replace

import pytest

from bench_assets.core.images.text_substitutes import describe_images, replace_images_by_texts
from bench_assets.core.schema.chat import Image, Prompt, Response
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import ImageText
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.rows import question


def description_prompt(image):
    return Prompt.of(Image(image), "Describe it.")


def test_each_image_is_described_once():
    model = ScriptedModel("m", lambda request: f" of {request.prompt.images[0].sha256}\n")
    assert describe_images(["a", "b", "a"], description_prompt, model) == [
        ImageText(image="a", text="of a", author="m"),
        ImageText(image="b", text="of b", author="m"),
    ]


class FixedResponses(ScriptedModel):
    """A model with these responses, whatever the requests."""

    def __init__(self, *responses):
        super().__init__("m", str)
        self.responses = responses

    def response(self, requests):
        return list(self.responses)


def test_images_without_a_response_are_counted_in_the_error():
    model = FixedResponses(Response(text="x"), Response(error="connection lost"))
    with pytest.raises(ModelError, match="m: 1 of 2 images have no text: connection lost"):
        describe_images(["a", "b"], description_prompt, model)


TEXTS = [ImageText(image=name, text=f"text {name}", author="x") for name in ("b", "a")]


def test_images_are_replaced_by_their_texts_in_the_order_of_the_images():
    row = question(images=("a", "b"))
    assert replace_images_by_texts([row], TEXTS) == [
        replace(row, images=(), image_texts=("text a", "text b"))
    ]


@pytest.mark.parametrize("images", [("c",), ()], ids=["an image without a text", "no image"])
def test_a_question_without_texts_for_its_images_is_left_out(images):
    assert replace_images_by_texts([question(images=images)], TEXTS) == []


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(Response(finish_reason="content_filter"), id="emptied by a content filter"),
        pytest.param(
            Response(text="<think>A cat", finish_reason="length", completion_tokens=64),
            id="cut off while thinking",
        ),
    ],
)
def test_an_image_that_a_model_does_not_describe_has_no_text(response):
    model = FixedResponses(response, Response(text="A gate."))
    (described,) = describe_images(["a", "b"], description_prompt, model)
    assert described.image == "b"
