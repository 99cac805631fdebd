"""A model that says what it hears in capitals."""

from collections.abc import Sequence

from PIL import Image as PILImage

from bench_assets.core.schema.chat import Response
from bench_resources.models.workers.local_model import Draw, Message


class Fragile:
    def weight(self, images: Sequence[PILImage.Image]) -> int:
        return 0

    def prepare(self, conversations: Sequence[Sequence[Message]]) -> list[str]:
        return [talk[-1]["content"][-1]["text"] for talk in conversations]

    def answer(self, prepared: list[str], draw: Draw) -> list[Response]:
        return [_answer(text) for text in prepared]


def _answer(text: str) -> Response:
    return Response(text=text.upper(), finish_reason="stop", prompt_tokens=1, completion_tokens=1)
