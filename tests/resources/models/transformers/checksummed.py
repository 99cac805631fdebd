"""A loader without weights over a folder of files, and what happens to them meanwhile."""

from collections.abc import Callable, Sequence
from pathlib import Path

from bench_assets.core.schema.chat import Prompt, Request, Response
from resources.checkpoints.identity import Checkpoint
from resources.config.sections.local_models import TransformersSpec
from resources.models.transformers.engine import TransformersEngine
from resources.models.workers.local_model import Draw
from tests.resources.models.transformers.fragile import Fragile
from tests.resources.models.transformers.tiny_engine import ALBUM, spec_of
from tests.sensors.watched import safetensors

Change = Callable[[Path], object]


def overwritten(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(safetensors(b"4321"))


class Loader:
    """Loads a model that echoes, and does something to the folder at some time."""

    def __init__(self, **at: Callable[[], object]) -> None:
        self._at = at
        self.said: list[str] = []

    def load(self, spec: TransformersSpec, checkpoint: Checkpoint) -> Fragile:
        self._at.get("loading", bool)()
        return Echo(self._at.get("asking", bool))


class Echo(Fragile):
    def __init__(self, meanwhile: Callable[[], object]) -> None:
        self._meanwhile = meanwhile

    def answer(self, prepared: list[str], draw: Draw) -> list[Response]:
        responses = super().answer(prepared, draw)
        if prepared == ["b"]:
            self._meanwhile()
        return responses


def asked_of(engine: TransformersEngine, *texts: str) -> list[str]:
    requests: Sequence[Request] = [Request(prompt=Prompt.of(text)) for text in texts]
    said: list[str] = []
    for _, response in engine.stream(requests):
        assert not response.error
        said.append(response.text)
    return said


def engine_of(folder: Path, loader: Loader) -> TransformersEngine:
    spec = spec_of(folder, text_only=True, batch_size=1)
    return TransformersEngine(spec, str(folder), ALBUM.read, loader.load)
