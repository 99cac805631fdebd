"""The local engine where memory is short: batches are halved, and what is too large is an error."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image as PILImage

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.engine import TransformersEngine
from bench_resources.models.transformers.model import TransformersModel, load
from bench_resources.models.transformers.prompt_tensors import PromptBatch
from bench_resources.models.workers.batching import Batches
from bench_resources.models.workers.local_model import Draw, Message
from tests.resources.models.transformers.fragile import Fragile
from tests.resources.models.transformers.tiny_engine import (
    ALBUM,
    MIXED,
    engine_of,
    outputs,
    responses_of,
    spec_of,
)


class Cramped:
    """A loaded model on a machine with room for so many conversations at once."""

    def __init__(self, model: TransformersModel, room: int) -> None:
        self.model = model
        self.room = room
        self.sizes: list[int] = []

    def weight(self, images: Sequence[PILImage.Image]) -> int:
        return self.model.weight(images)

    def prepare(self, conversations: Sequence[Sequence[Message]]) -> PromptBatch:
        return self.model.prepare(conversations)

    def answer(self, prepared: PromptBatch, draw: Draw) -> list[Response]:
        import torch

        self.sizes.append(len(prepared.notes))
        if len(prepared.notes) > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return self.model.answer(prepared, draw)


def cramped(folder: Path, room: int) -> tuple[TransformersEngine, list[int]]:
    sizes: list[int] = []

    def load_cramped(spec: TransformersSpec, checkpoint: Checkpoint) -> Cramped:
        model = Cramped(load(spec, checkpoint), room)
        model.sizes = sizes
        return model

    spec = spec_of(folder, batch_size=8)
    return TransformersEngine(spec, str(folder), ALBUM.read, load_cramped), sizes


def test_out_of_memory_halves_the_batch(vlm: Path) -> None:
    requests = [Request(prompt=Prompt.of(f"Question {n}?")) for n in range(10, 26)]
    engine, sizes = cramped(vlm, room=2)
    assert outputs(responses_of(engine, requests)) == outputs(
        responses_of(engine_of(vlm), requests)
    )
    assert sizes == [8, 4, 2, 2, 2, 2, 2, 2, 2, 2]


class Weighed(Fragile):
    """A model with memory for so many letters at once."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.sizes: list[int] = []

    def answer(self, prepared: list[str], draw: Draw) -> list[Response]:
        self.sizes.append(len(prepared))
        if sum(map(len, prepared)) > self.room:
            raise MemoryError
        return super().answer(prepared, draw)


def sizes_of(lengths: Sequence[int], room: int) -> list[int]:
    """Sizes of the batches, at most 4, in which texts of these lengths are asked."""
    model = Weighed(room)
    batches = Batches(spec_of(Path("nowhere"), batch_size=4), ALBUM.read, lambda: model)
    requests = [Request(prompt=Prompt.of("a" * n), sample=i) for i, n in enumerate(lengths)]
    answered = dict(batches.stream(requests))
    assert [len(answered[i].text) for i in range(len(lengths))] == lengths
    return model.sizes


def test_the_batch_grows_again_when_shorter_requests_fit() -> None:
    """Four of 10 letters are too many for 20: two at once, until eight batches fit.

    Another batch of two had been formed when it grew, and eight requests been read.
    """
    sizes = sizes_of([10] * 4 + [1] * 28, room=20)
    assert sizes == [4, *[2] * 9, 4, 2, 4, 4]


def test_a_request_too_large_for_the_memory_is_an_error(vlm: Path) -> None:
    engine, sizes = cramped(vlm, room=0)
    (response,) = responses_of(engine, [Request(prompt=MIXED[0])])
    assert response == Response(error="CUDA out of memory. Tried to allocate 2.00 GiB.")
    assert sizes == [1]
