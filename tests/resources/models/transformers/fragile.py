"""A model that says what it hears in capitals, and takes its process with it where it is told to;
another one that says how it was told to draw.

In a module of its own, because the processes of a data-parallel engine import it.
"""

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from PIL import Image as PILImage

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.workers.local_model import Draw, Message


class Fragile:
    def weight(self, images: Sequence[PILImage.Image]) -> int:
        return 0

    def prepare(self, conversations: Sequence[Sequence[Message]]) -> list[str]:
        return [talk[-1]["content"][-1]["text"] for talk in conversations]

    def answer(self, prepared: list[str], draw: Draw) -> list[Response]:
        return [_answer(text) for text in prepared]


class Telling(Fragile):
    def answer(self, prepared: list[str], draw: Draw) -> list[Response]:
        drawn = f"{draw.temperature} {draw.top_p} {sorted(draw.rest.items())}"
        return [Response(text=drawn, prompt_tokens=1, completion_tokens=1) for _ in prepared]


def load_telling(spec: TransformersSpec, checkpoint: Checkpoint) -> Telling:
    return Telling()


def load(spec: TransformersSpec, checkpoint: Checkpoint) -> Fragile:
    return Fragile()


def load_nothing(spec: TransformersSpec, checkpoint: Checkpoint) -> Fragile:
    raise ModelError(f"{checkpoint.location}: no weights today")


def _answer(text: str) -> Response:
    match text.split():
        case ["always"]:
            os.kill(os.getpid(), signal.SIGKILL)
        case ["once", mark] if not Path(mark).exists():
            Path(mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return Response(text=text.upper(), finish_reason="stop", prompt_tokens=1, completion_tokens=1)
