"""Setup of a model: identity and decoding, without opening it.

Written beside what it responded, so that a number can be told from one under another setup. Unlike
``state``, this leaves out what only makes it faster or dearer, and where folders lie.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints import hub_revisions, watched_folders
from resources.checkpoints.files import processor_files, watched_files
from resources.config.bench_toml import Settings
from resources.config.sections.base import ModelSpec
from resources.config.sections.local_models import LocalSpec, TransformersSpec
from resources.config.sections.models import EMBEDDED_MODELS, BlindSpec, PythonSpec
from resources.config.sections.servers import ServerSpec
from resources.models.registry.engines import placed, served
from resources.models.registry.response_inputs import files_named
from resources.storage.file_digests import json_digest

_DIGITS = 12
_SMALL = 1 << 20  # bytes; files up to here are read, of larger ones size and time tell
_NO_MATTER = {  # what the same responses come sooner, later or cheaper with
    *("price_in", "price_out", "budget", "budget_tokens"),
    *("batch_size", "batch_tokens", "device", "devices", "cache"),
    *("gpu_memory_utilization", "tensor_parallel_size"),
    *("on", "replicas", "needs"),
}
_PLACES = {"path", "base", "processor", "chat_template", "file"}


def setup_of(name: str, settings: Settings) -> str:
    """Digest how a model is set up; "" where its files cannot be looked at.

    A checkpoint of a watched folder, whose name says what it holds, is set up as ``like`` says.

    Raises:
        UnknownNameError: If there is no model of that name, or no more.
    """
    with suppress(ModelError, OSError, ValueError):
        return json_digest(_facts(name, settings))[:_DIGITS]
    return ""


def _facts(name: str, settings: Settings) -> list[object]:
    if name not in {**EMBEDDED_MODELS, **settings.models} and _says_what_it_holds(name):
        like = settings.checkpoints.like
        if isinstance(liked := settings.liked(), ServerSpec):
            return ["watched", *_of_server(liked, settings, files=False)]
        return ["watched", _said(settings.model(like), settings) if like else {}]
    spec = settings.model(name)
    if isinstance(spec, BlindSpec):
        blind = isinstance(settings.model(spec.of), BlindSpec)  # which cannot be asked
        return ["blind", spec.of if blind else _facts(spec.of, settings)]
    if isinstance(spec, ServerSpec):
        return _of_server(spec, settings)
    if isinstance(spec, LocalSpec):
        return [
            _said(spec, settings),
            spec.identity_parts,
            *_of_files(_of_checkpoint(spec, settings)),
        ]
    said = _said(spec, settings)
    code = _code_of(spec.factory.partition(":")[0]) if isinstance(spec, PythonSpec) else []
    return [said, *_of_files([*files_named(spec.model_dump(mode="json"), settings), *code])]


def _of_server(spec: ServerSpec, settings: Settings, *, files: bool = True) -> list[object]:
    said = [str(spec.decoding), spec.thinking_tags]
    if not spec.path:
        return [spec.identity, *said]
    command = spec.command_digest if spec.serve else ""
    there = Path(served(spec, settings.resolve).path)
    weights = (watched_files(there) if there.is_dir() else [there]) if files else []
    return [spec.identity_of("served"), command, *said, *_of_files(weights)]


def _says_what_it_holds(name: str) -> bool:
    return bool(watched_folders.KEY.fullmatch(name) or hub_revisions.KEY.fullmatch(name))


def _said(spec: ModelSpec, settings: Settings) -> dict[str, object]:
    """What the section says, but for folders and files: they count by what is in them."""
    said = spec.model_dump(mode="json", exclude=_NO_MATTER)
    here = {name for name in _PLACES & said.keys() if isinstance(said[name], str) and said[name]}
    return said | {name: "" for name in here if settings.resolve(said[name]).exists()}


def _code_of(module: str) -> list[Path]:
    """The innermost package that a module lies in, or its file, without importing anything."""
    top, *below = module.split(".")
    found = find_spec(top)
    if found is None or not (places := found.submodule_search_locations):
        return [Path(found.origin)] if found and found.origin else []
    return [Path(place, *below[:-1]) for place in places]


def _of_checkpoint(spec: LocalSpec, settings: Settings) -> Iterator[Path]:
    """The files of a checkpoint; none of a hub id, whose revision is written in its section."""
    there = placed(spec, settings.resolve)
    gguf = there.gguf_file if isinstance(there, TransformersSpec) else None
    for folder in (Path(place) for place in (there.path, there.base) if place):
        if gguf:
            yield folder / gguf
        elif folder.is_dir():
            yield from watched_files(folder)
    if there.processor and Path(there.processor).is_dir():
        yield from processor_files(Path(there.processor))


def _of_files(paths: Iterable[Path]) -> Iterator[list[object]]:
    for path in paths:
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            if file.is_file():
                yield [file.name, *_content(file)]


def _content(file: Path) -> list[object]:
    about = file.stat()
    if about.st_size <= _SMALL:
        return [sha256(file.read_bytes()).hexdigest()]
    return [about.st_size, about.st_mtime_ns]
