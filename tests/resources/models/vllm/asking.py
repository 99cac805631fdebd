"""An engine of vLLM over a folder of tests, and asking it."""

from pathlib import Path

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_resources.config.sections.local_models import VllmSpec
from bench_resources.models.vllm.engine import VllmEngine
from tests.resources.models.transformers.tiny_engine import ALBUM, responses_of


def engine_of(folder: Path, **fields: object) -> VllmEngine:
    written = {"kind": "vllm", "path": str(folder), "max_tokens": 64} | fields
    return VllmEngine(VllmSpec.model_validate(written), str(folder), ALBUM.read)


def ask(folder: Path, *prompts: Prompt, **fields: object) -> list[Response]:
    return responses_of(engine_of(folder, **fields), [Request(prompt=prompt) for prompt in prompts])
