"""A model that says what it hears in capitals, and takes its process with it where it is told to.

In a module of its own, because the processes of a data-parallel engine import it.
"""

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from bench_assets.core.chat import Reply
from bench_assets.core.errors import ModelError
from resources.batches import Draw
from resources.checkpoints import Checkpoint
from resources.model_specs import TransformersSpec
from resources.transformers_prompts import Message


class Fragile:
    def answer(self, conversations: Sequence[Sequence[Message]], draw: Draw) -> list[Reply]:
        return [_answer(talk[-1]["content"][-1]["text"]) for talk in conversations]


def load(spec: TransformersSpec, checkpoint: Checkpoint) -> Fragile:
    return Fragile()


def load_nothing(spec: TransformersSpec, checkpoint: Checkpoint) -> Fragile:
    raise ModelError(f"{checkpoint.location}: no weights today")


def _answer(text: str) -> Reply:
    match text.split():
        case ["always"]:
            os.kill(os.getpid(), signal.SIGKILL)
        case ["once", mark] if not Path(mark).exists():
            Path(mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return Reply(text=text.upper(), finish_reason="stop", prompt_tokens=1, completion_tokens=1)
