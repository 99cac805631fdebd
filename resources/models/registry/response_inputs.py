"""Inputs that a model's responses depend on, without opening it.

Where this did not change, neither did the identity under which its responses are remembered.
"""

import os
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

from bench_assets.core.schema.errors import BenchError
from resources.checkpoints.identity import pin, pin_served
from resources.config.bench_toml import Settings
from resources.config.sections.local_models import AnyLocalSpec, TransformersSpec, VllmSpec
from resources.config.sections.models import BlindSpec, PythonSpec
from resources.config.sections.servers import ServerSpec
from resources.models.registry.engines import placed, served
from resources.models.transformers.loading import dtype_of
from resources.storage.file_digests import FileDigests, home_digests, json_digest, texts_of

_NO_MATTER = {"reached_as"}  # of each machine its own


def state_of(name: str, settings: Settings) -> list[object]:
    """Everything that is known of a model: its settings, its files, the commit of a hub id.

    Of one that cannot be used, why.
    """
    try:
        return _known_of(name, settings)
    except BenchError as why:
        return [str(why)]


def files_named(said: object, settings: Settings) -> list[Path]:
    """The files and folders that a setting names, at any depth."""
    paths = (settings.resolve(text) for text in sorted(set(texts_of(said))) if text)
    return [path for path in paths if os.path.exists(path)]  # noqa: PTH110 - takes any text


def _known_of(name: str, settings: Settings) -> list[object]:
    spec = settings.model(name)
    said = spec.model_dump(mode="json", exclude=_NO_MATTER)
    if isinstance(spec, BlindSpec) and not isinstance(settings.model(spec.of), BlindSpec):
        return [said, state_of(spec.of, settings)]
    digests = home_digests(settings.home)
    if isinstance(spec, TransformersSpec | VllmSpec):
        return [said, *_of_checkpoint(placed(spec, settings.resolve), digests)]
    if isinstance(spec, ServerSpec) and spec.path:
        return [said, pin_served(served(spec, settings.resolve).path, _by(digests)).content]
    written_in = type(spec).__module__  # an added kind's is the package that added it
    if isinstance(spec, PythonSpec):
        written_in = spec.factory.partition(":")[0]
    return [said, *digests.of([*files_named(said, settings), _code_of(written_in)])]


def _of_checkpoint(spec: AnyLocalSpec, digests: FileDigests) -> list[object]:
    here = spec if isinstance(spec, TransformersSpec) else None
    pinned = pin(
        spec.path,
        spec.revision,
        here.gguf_file if here else None,
        processor=spec.processor,
        base=spec.base,
        digest=_by(digests),
    )
    # What "auto" means is another thing on another machine.
    return [pinned.content, spec.identity_parts, dtype_of(here) if here else ""]


def _by(digests: FileDigests) -> Callable[[Iterable[Path]], str]:
    return lambda files: json_digest(list(digests.of(files)))


def _code_of(module: str) -> Path:
    """The innermost package that a module lies in; if it lies in none, its file."""
    try:
        found = find_spec(module)
    except ImportError:
        found = None
    if not found or not found.origin:
        return Path(module)
    file = Path(found.origin)
    return file.parent if "." in module or found.submodule_search_locations else file
