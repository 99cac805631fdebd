"""An image is embedded by its caption, a text as it is; captions are asked for once."""

from collections.abc import Sequence

import numpy as np
import pytest

from bench_assets.core.schema.chat import Image, Request, Response, Vectors
from bench_assets.core.schema.errors import ModelError
from bench_assets.suites.journeybench.captioning.dataset import TEXT
from bench_assets.suites.journeybench.captioning.task import TASK as CAPTIONING
from bench_assets.suites.journeybench.retrieval.captions import CaptionEncoder
from tests.fakes.rows import question

CAPTIONS = {"0a": "A cow.", "0b": "A pig with a hat.", "0c": ""}


class Describing:
    name, signature = "seer", "seer|t=0"

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def response(self, requests: Sequence[Request]) -> list[Response]:
        self.requests += requests
        images = [request.prompt.images[0].sha256 for request in requests]
        return [
            Response(text=CAPTIONS[image], finish_reason="stop") if CAPTIONS[image]
            else Response(error="out of memory")
            for image in images
        ]  # fmt: skip


class Lengths:
    name = "lengths@1"

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        return np.array([[len(text)] for text in texts], np.float32)


def test_an_image_is_where_its_caption_is():
    model = Describing()
    encoder = CaptionEncoder(model, Lengths())
    assert encoder.encode_images(["0b", "0a", "0b"]).tolist() == [[17.0], [6.0], [17.0]]
    assert encoder.encode_texts(["A cow."]).tolist() == [[6.0]]
    assert encoder.name == "lengths@1+seer|seer|t=0"
    assert len(model.requests) == 2


def test_captions_are_the_cached_ones_of_captioning():
    model = Describing()
    CaptionEncoder(model, Lengths()).encode_images(["0a"])
    prompt = CAPTIONING.conditions["main"].prompt(question(text=TEXT, images=("0a",)))
    assert model.requests[0].prompt == prompt
    assert Image("0a") in prompt.turns[0].parts


def test_an_image_without_a_caption_is_an_error():
    with pytest.raises(ModelError, match="seer: no caption of image 0c: out of memory"):
        CaptionEncoder(Describing(), Lengths()).encode_images(["0c"])
