"""Setup of a model, without opening it.

``setup_of`` is a short digest of identity and decoding, stored beside the responses; it ignores
settings of speed, price and location.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.provenance import json_digest
from bench_resources.config.bench_toml import Settings
from bench_resources.config.environment import add_module_folders
from bench_resources.config.sections.base import ModelSpec
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.config.sections.models import (
    CALLERS_FUNCTION,
    EMBEDDED_MODELS,
    DerivedSpec,
    PythonSpec,
)
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.registry.engines import resolve_local_paths
from bench_resources.models.registry.named_models import (
    ResolvedModel,
    is_watched_name,
    resolve_name,
    watched_spec,
)
from bench_resources.storage.file_digests import iter_texts

FindModel: TypeAlias = Callable[[str], ResolvedModel]
"""Finds a model by name, as ``resolve_name`` does, but once."""

_DIGITS = 12  # hexadecimal digits of a digest
_MAX_DIGESTED = 1 << 20  # bytes; larger files are identified by size and time
_NEUTRAL_FIELDS = {  # change only speed and price, or how many responses are drawn
    *("price_in", "price_out", "budget", "budget_tokens"),
    *("batch_size", "batch_tokens", "device"),
    *("needs", "n"),
}
_PATH_FIELDS = {"path", "base", "processor", "chat_template", "file"}


def setup_of(name: str, settings: Settings, find: FindModel | None = None) -> str:
    """Digest of a model's setup; "" if its kind or its files cannot be used here.

    The setup of a watched checkpoint is that of ``like``: its name includes its content.

    Raises:
        UnknownNameError: If there is no model of that name.
    """
    with suppress(ModelError, OSError, ValueError):
        if name not in {**EMBEDDED_MODELS, **settings.models} and is_watched_name(name):
            return json_digest(_watched_facts(settings))[:_DIGITS]
        model = find(name) if find else resolve_name(name, settings)
        draws = [f"n={model.draws}"] if model.draws > 1 else []
        return json_digest([*_setup_facts(model, settings), *draws])[:_DIGITS]
    return ""


def named_files(values: object, settings: Settings) -> list[Path]:
    """Existing files and folders that the texts of a JSON value name, at any depth."""
    paths = (settings.resolve(text) for text in sorted(set(iter_texts(values))) if text)
    return [path for path in paths if os.path.exists(path)]  # noqa: PTH110 - takes any text


def _watched_facts(settings: Settings) -> list[object]:
    like_spec = watched_spec(settings)
    if isinstance(like_spec, ServerSpec):
        return ["watched", *_server_facts(like_spec)]
    return ["watched", _section(like_spec, settings) if settings.checkpoints.like else {}]


def _setup_facts(model: ResolvedModel, settings: Settings) -> list[object]:
    """What the responses of a model depend on, as JSON values."""
    spec = model.spec
    if model.of and isinstance(spec, DerivedSpec):
        return [*spec.way, _setup_facts(model.of, settings)]
    if isinstance(spec, ServerSpec):
        return [*_server_facts(spec), *_digests(_served_files(spec, settings))]
    if isinstance(spec, TransformersSpec):
        weights = _checkpoint_files(spec, settings)
        return [_section(spec, settings), spec.identity_parts, *_digests(weights)]
    section = _section(spec, settings)
    code = _python_files(spec, settings) if isinstance(spec, PythonSpec) else []
    existing_files: list[Path] = []
    for path in named_files(spec.model_dump(mode="json"), settings):
        existing_files += filter(Path.is_file, path.rglob("*") if path.is_dir() else [path])
    return [section, *_digests([*sorted(existing_files), *code])]


def _server_facts(spec: ServerSpec) -> list[object]:
    """What the responses of a server depend on besides the files of its weights."""
    decoding = [str(spec.decoding), spec.thinking_tags]
    if not spec.path:
        return [spec.identity_of(), *decoding]
    command = spec.command_digest if spec.serve else ""
    return [spec.identity_of(spec.served_by), command, *decoding]


def _served_files(spec: ServerSpec, settings: Settings) -> list[Path]:
    """Files of the weights of a server; none if its section does not name them."""
    if not spec.path:
        return []
    from bench_resources.checkpoints.files import watched_files

    path = settings.resolve(spec.path)
    return watched_files(path) if path.is_dir() else [path]


def _section(spec: ModelSpec, settings: Settings) -> dict[str, object]:
    """The section without neutral fields, and without existing files: their content counts."""
    section = spec.model_dump(mode="json", exclude=_NEUTRAL_FIELDS)
    for field in _PATH_FIELDS & section.keys():
        path = section[field]
        if isinstance(path, str) and path and settings.resolve(path).exists():
            section[field] = ""
    return section


def _python_files(spec: PythonSpec, settings: Settings) -> list[Path]:
    """The innermost package of a model's module, or its file, without importing anything."""
    if spec.function == CALLERS_FUNCTION:
        return []  # its code is one of the options
    add_module_folders(settings.home)
    module_name, _, _ = spec.place.partition(":")
    top_package, *submodules = module_name.split(".")
    package = find_spec(top_package)
    if package is None:
        return []
    if not package.submodule_search_locations:
        return [Path(package.origin)] if package.origin else []
    return [Path(folder, *submodules[:-1]) for folder in package.submodule_search_locations]


def _checkpoint_files(spec: TransformersSpec, settings: Settings) -> Iterator[Path]:
    """Files of a checkpoint; none for a hub id, whose revision is in its section."""
    from bench_resources.checkpoints.files import processor_files, watched_files

    resolved = resolve_local_paths(spec, settings.resolve)
    gguf = resolved.gguf_file
    for folder in map(Path, filter(None, (resolved.path, resolved.base))):
        if gguf:
            yield folder / gguf
        elif folder.is_dir():
            yield from watched_files(folder)
    if resolved.processor and Path(resolved.processor).is_dir():
        yield from processor_files(Path(resolved.processor))


def _digests(paths: Iterable[Path]) -> Iterator[list[object]]:
    """Name and content of files, and of a folder's Python files; large ones by size and time."""
    for path in paths:
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        for file in filter(Path.is_file, files):
            stat = file.stat()
            if stat.st_size <= _MAX_DIGESTED:
                yield [file.name, sha256(file.read_bytes()).hexdigest()]
            else:
                yield [file.name, stat.st_size, stat.st_mtime_ns]
