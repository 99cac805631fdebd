"""Texts in the place of images."""

from dataclasses import replace

import pytest

from bench_assets.core.images.text_substitutes import describe_images, replace_images_by_texts
from bench_assets.core.schema.chat import Image, Prompt, Response
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import ImageText
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.rows import question


def instruct(image):
    return Prompt.of(Image(image), "Describe it.")


def test_each_image_is_described_once():
    model = ScriptedModel("m", lambda request: f" of {request.prompt.images[0].sha256}\n")
    assert describe_images(["a", "b", "a"], instruct, model) == [
        ImageText(image="a", text="of a", author="m"),
        ImageText(image="b", text="of b", author="m"),
    ]


def test_a_image_without_a_text_is_an_error_that_counts():
    class Broken(ScriptedModel):
        def response(self, requests):
            return [Response(text="x"), Response(error="connection lost")]

    with pytest.raises(ModelError, match="m: 1 of 2 images have no text: connection lost"):
        describe_images(["a", "b"], instruct, Broken("m", str))


def test_texts_take_the_place_of_images_and_questions_that_lack_one_are_left_out():
    two, one, blind = question(images=("a", "b")), question(images=("c",)), question()
    texts = [ImageText(image=name, text=f"text {name}", author="x") for name in "ba"]
    assert replace_images_by_texts([two, one, blind], texts) == [
        replace(two, images=(), image_texts=("text a", "text b"))
    ]


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(Response(finish_reason="content_filter"), id="refused"),
        pytest.param(
            Response(text="<think>A cat", finish_reason="length", completion_tokens=64),
            id="cut off while thinking",
        ),
    ],
)
def test_an_image_that_a_model_does_not_describe_has_no_text(response):
    class Silent(ScriptedModel):
        def response(self, requests):
            return [response, Response(text="A gate.")]

    assert [row.image for row in describe_images(["a", "b"], instruct, Silent("m", str))] == ["b"]
