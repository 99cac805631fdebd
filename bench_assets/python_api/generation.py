"""``bench.generate``: responses of a model to prompts, through the response cache."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from PIL import Image as PillowImage

from bench_assets.core.images.decoding import to_upright_rgb
from bench_assets.core.images.drawing import encode_png
from bench_assets.core.schema.chat import Image, Prompt, Request, Response
from bench_assets.core.schema.errors import ImageError, SettingsError
from bench_assets.python_api.calls import interface
from bench_assets.python_api.evaluation import model_argument
from bench_assets.workspace.console.new_home import print_new_home
from bench_assets.workspace.evaluate.subset import open_model
from bench_assets.workspace.materialization.model_arguments import (
    resolve_models,
    save_models,
    sections_of,
)
from bench_assets.workspace.materialization.opening import prepare_process
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.environment import default_home
from bench_resources.images.store import ImageStore, open_image_store
from bench_resources.models.registry.opening import Models

if TYPE_CHECKING:
    from bench_resources.models.registry.functions import ModelFunction

Part: TypeAlias = str | Path | bytes | PillowImage.Image
"""A text, or an image as a path, bytes or PIL image."""
AnyPrompt: TypeAlias = Prompt | Part | Sequence[Part]
"""A text, or texts and images in reading order."""


@interface
def generate(
    model: "str | Path | ModelFunction", prompts: Sequence[AnyPrompt], *, name: str = ""
) -> list[Response]:
    """Generate a response to each prompt, batched, through the response cache of the home.

    Cached responses are reused; Ctrl-C keeps the responses so far.

    >>> from PIL import Image as Pillow
    >>> def count(images, prompt):
    ...     return f"{len(images)} image, {prompt}"
    >>> square = Pillow.new("RGB", (32, 32), "red")
    >>> [response.text for response in generate(count, [[square, "Which colour?"]])]
    ['1 image, Which colour?']

    Args:
        model: As for ``bench.evaluate``.
        prompts: Texts; or lists of texts and images (a ``Path``, bytes, or a PIL image).
        name: Name for a function, as for ``bench.evaluate``.

    Returns:
        The responses, in order; a failed one has the reason in ``error``.

    Raises:
        BenchError: If an argument is invalid, or the model or an image cannot be opened.
    """
    if isinstance(prompts, str | bytes | Mapping) or not isinstance(prompts, Iterable):
        raise SettingsError(f"prompts: expected a list of prompts, got {type(prompts).__name__}")
    home = default_home()
    prepare_process(home)
    settings = load_settings(home)
    (resolved,) = resolve_models([model_argument(model, name)], settings)
    settings = settings.with_overrides(models=sections_of([resolved]))
    print_new_home(settings.home)
    store = open_image_store(settings)
    requests = [
        Request(prompt=_to_prompt(prompt, f"prompts[{position}]", store))
        for position, prompt in enumerate(prompts)
    ]
    if name or not callable(model):  # later commands cannot name an unnamed function
        save_models([resolved], settings)
    with closing(Models(settings=settings, image_store=store)) as models:
        models.know([resolved])
        with open_model(models, f"{resolved.name}: prompts", resolved.name) as chat_model:
            return chat_model.response(requests)


def _to_prompt(prompt: AnyPrompt, entry: str, store: ImageStore) -> Prompt:
    """Convert a prompt, which errors name as ``entry``."""
    if isinstance(prompt, Prompt):
        return prompt
    if isinstance(prompt, str | bytes) or not isinstance(prompt, Sequence):
        return Prompt.of(_store_part(prompt, entry, store))
    return Prompt.of(*(_store_part(part, entry, store) for part in prompt))


def _store_part(part: object, entry: str, store: ImageStore) -> str | Image:
    """Convert a part of a prompt; images are stored and replaced by their digests."""
    if isinstance(part, str):
        return part
    if isinstance(part, Path):
        return Image(store.put_file(part).sha256)
    if not isinstance(part, bytes | PillowImage.Image):
        raise SettingsError(
            f"{entry}: expected texts and images (Path, bytes or PIL), got {type(part).__name__}"
        )
    try:
        data = part if isinstance(part, bytes) else encode_png(to_upright_rgb(part))
        return Image(store.put(data, entry).sha256)
    except (ImageError, OSError, ValueError) as error:  # of Pillow: a torn or an empty image
        raise ImageError(f"{entry}: {error}") from error
