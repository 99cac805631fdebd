"""Checks of models of a test, and what they found."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench_assets.core.schema.chat import ChatModel, Request
from bench_assets.core.schema.errors import BenchError
from bench_resources.config.bench_toml import load_settings
from bench_resources.models.registry.baselines import ScriptedModel
from bench_resources.models.registry.model_check import ModelCheck, check_model
from bench_resources.models.registry.resolution import resolve

PROBES = [
    "an image",
    "two images",
    "no image",
    "a system prompt",
    "control tokens",
    "a conversation",
]


def checked(home: Path, toml: str, name: str = "m") -> ModelCheck:
    home.mkdir(exist_ok=True)
    (home / "bench.toml").write_text(toml)
    settings = load_settings(home)
    try:
        return check_model(resolve(name, settings), settings)
    except BenchError as error:
        return ModelCheck(model=name, error=str(error))


def local(folder: Path | str, more: str = "") -> str:
    return f'[models.m]\nkind = "transformers"\ndevice = "cpu"\npath = "{folder}"\n{more}\n'


def errors(found: ModelCheck) -> dict[str, str]:
    return {one.probe: one.error for one in found.probes if one.error}


def echoing(name: str, open_image: Callable[[str], Any]) -> ChatModel:
    """A model in Python that says how large the first image is."""

    def first_size(request: Request) -> str:
        return str([open_image(image.sha256).size for image in request.prompt.images[:1]])

    return ScriptedModel(name, first_size)


def raising(name: str, open_image: Callable[[str], Any]) -> ChatModel:
    raise ZeroDivisionError("by the author")


def python(factory: str) -> str:
    return f'[models.m]\nkind = "python"\nfactory = "{__name__}:{factory}"\n'
