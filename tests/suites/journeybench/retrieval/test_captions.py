from collections.abc import Sequence

import numpy as np
import pytest

from bench_assets.core.schema.chat import Image, Request, Response, Vectors
from bench_assets.core.schema.errors import ModelError
from bench_assets.suites.journeybench.captioning.dataset import TEXT
from bench_assets.suites.journeybench.captioning.task import TASK as CAPTIONING
from bench_assets.suites.journeybench.retrieval.captions import CaptionEncoder
from tests.fakes.rows import question

CAPTION_BY_IMAGE = {"0a": "A cow.", "0b": "A pig with a hat.", "0c": ""}


class CaptioningModel:
    """Responds with the caption of an image, or an error if that is empty; records requests."""

    name, signature = "seer", "seer|t=0"

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def response(self, requests: Sequence[Request]) -> list[Response]:
        self.requests += requests
        captions = [CAPTION_BY_IMAGE[request.prompt.images[0].sha256] for request in requests]
        return [
            Response(text=caption, finish_reason="stop")
            if caption
            else Response(error="out of memory")
            for caption in captions
        ]


class LengthEncoder:
    name = "lengths@1"

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        return np.array([[len(text)] for text in texts], np.float32)


def test_images_and_texts_have_the_vectors_of_captions_and_texts():
    encoder = CaptionEncoder(CaptioningModel(), LengthEncoder())
    assert encoder.encode_images(["0b", "0a"]).tolist() == [[17.0], [6.0]]
    assert encoder.encode_texts(["A cow."]).tolist() == [[6.0]]


def test_the_name_has_the_text_encoder_and_the_captioning_model():
    encoder = CaptionEncoder(CaptioningModel(), LengthEncoder())
    assert encoder.name == "lengths@1+seer|seer|t=0"


def test_the_caption_of_an_image_is_requested_once():
    model = CaptioningModel()
    vectors = CaptionEncoder(model, LengthEncoder()).encode_images(["0b", "0a", "0b"])
    assert vectors.tolist() == [[17.0], [6.0], [17.0]]
    assert len(model.requests) == 2


def test_the_prompt_is_that_of_captioning_whose_responses_are_cached():
    model = CaptioningModel()
    CaptionEncoder(model, LengthEncoder()).encode_images(["0a"])
    prompt = CAPTIONING.conditions["main"].prompt(question(text=TEXT, images=("0a",)))
    assert model.requests[0].prompt == prompt
    assert Image("0a") in prompt.turns[0].parts


def test_an_image_without_a_caption_is_an_error():
    with pytest.raises(ModelError, match="seer: no caption of image 0c: out of memory"):
        CaptionEncoder(CaptioningModel(), LengthEncoder()).encode_images(["0c"])
