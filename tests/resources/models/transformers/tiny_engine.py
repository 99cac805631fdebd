"""Engines of tiny checkpoints, and prompts of every form for them, with images of one colour."""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from PIL import Image as PILImage

from bench_assets.core.schema.chat import Image, Prompt, Request, Response, Turn
from bench_assets.core.schema.errors import ImageError
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.engine import TransformersEngine
from bench_resources.models.workers.batching import Batches
from bench_resources.response_cache.engine import Engine
from tests.fakes.written_images import saved


class Album:
    def __init__(self) -> None:
        self.images: dict[str, bytes] = {}
        self.red = self.add("red", (40, 30))
        self.blue = self.add("blue", (64, 64))

    def add(self, colour: str, size: tuple[int, int]) -> Image:
        png = saved(PILImage.new("RGB", size, colour))
        digest = sha256(png).hexdigest()
        self.images[digest] = png
        return Image(digest)

    def read(self, digest: str) -> bytes:
        if digest not in self.images:
            raise ImageError(f"no image {digest}")
        return self.images[digest]


ALBUM = Album()
RED, BLUE = ALBUM.red, ALBUM.blue
MIXED = [
    Prompt.of("How many?"),
    Prompt.of("Is it yes, or is it no? This question is a good deal longer than the first one."),
    Prompt.of(RED, "What colour?"),
    Prompt.of(BLUE, "What colour?"),
    Prompt.of("Now the image comes last, and there are more words before it:", RED),
    Prompt.of(RED, "or", BLUE, "Which one?", system="Answer left or right."),
    Prompt.of(BLUE, "or", RED, "Which of the two is larger, the left or the right one?"),
    Prompt((Turn("user", ("one",)), Turn("assistant", ("yes",)), Turn("user", ("two",)))),
    Prompt((Turn("user", (RED, "one")), Turn("user", ("two",)))),
    Prompt((Turn("user", (BLUE, "one, but longer")), Turn("user", ("two",)))),
]


def spec_of(folder: Path | str, **fields: object) -> TransformersSpec:
    defaults = {"kind": "transformers", "path": str(folder), "device": "cpu", "max_tokens": 8}
    return TransformersSpec.model_validate(defaults | fields)


def identity_of(engine: TransformersEngine) -> str:
    engine.prepare()
    return engine.identity


def engine_of(folder: Path | str, **fields: object) -> TransformersEngine:
    return TransformersEngine(spec_of(folder, **fields), str(folder), ALBUM.read)


def responses_of(engine: Engine | Batches, requests: Sequence[Request]) -> list[Response]:
    """The responses to requests, in their order; each request has one."""
    arrived = list(engine.stream(requests))
    positions = list(range(len(requests)))
    assert sorted(position for position, _ in arrived) == positions
    responses = dict(arrived)
    return [responses[position] for position in positions]


def outputs(responses: Sequence[Response]) -> list[tuple[str, str, int | None, int | None]]:
    """Text, finish reason and tokens of prompt and response of each; none has an error."""
    assert [response.error for response in responses] == [""] * len(responses)
    return [(r.text, r.finish_reason, r.prompt_tokens, r.completion_tokens) for r in responses]


def set_entries(file: Path, **entries: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | entries))
