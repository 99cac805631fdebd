"""A model without weights, which repeats texts in capitals, and requests to it in batches."""

from collections.abc import Callable, Sequence
from typing import Any

from PIL import Image as PILImage

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_resources.models.workers.batching import Batches
from bench_resources.models.workers.local_model import Draw, Message
from bench_resources.response_cache.engine import ReadImage
from tests.resources.models.transformers.tiny_engine import ALBUM, responses_of, spec_of


class Echo:
    """Answers with each conversation's last text in capitals; calls hooks, which may raise."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.count_tokens: Callable[[PILImage.Image], int] = lambda image: 0
        self.at_prepare: Callable[[list[str]], None] = lambda texts: None
        self.at_answer: Callable[[list[str]], None] = lambda texts: None

    def count_image_tokens(self, images: Sequence[PILImage.Image]) -> int:
        return sum(map(self.count_tokens, images))

    def prepare(self, conversations: Sequence[Sequence[Message]]) -> list[str]:
        texts = [str(messages[-1]["content"][-1]["text"]) for messages in conversations]
        self.at_prepare(texts)
        return texts

    def answer(self, prepared: list[str], draw: Draw) -> list[Response]:
        self.batches.append(prepared)
        self.at_answer(prepared)
        return [Response(text=text.upper(), finish_reason="stop") for text in prepared]


def batches(echo: Echo, read_image: ReadImage = ALBUM.read, **fields: Any) -> Batches:
    return Batches(spec_of("nowhere", **fields), read_image, lambda: echo)


def ask(echo: Echo, *prompts: Prompt, **fields: Any) -> list[Response]:
    """The responses to prompts, in their order."""
    return responses_of(batches(echo, **fields), [Request(prompt=prompt) for prompt in prompts])
