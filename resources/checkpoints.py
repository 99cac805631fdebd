"""Where a Hugging Face checkpoint lies, whether it is whole, and what tells it from every other."""

import importlib.util
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path

from bench_assets.core.errors import ModelError

_PACKAGE = "package:"
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_READ_WHEN_LOADED = {".json", ".jinja", ".model", ".py", ".safetensors", ".txt"}
_WRITTEN_BY_TRAINERS = {"trainer_state.json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A checkpoint that was found, and is pinned to what it holds."""

    location: str  # a folder, or a hub id
    revision: str = "main"  # of a hub id: the commit
    content: str  # what it holds: ``sha256:<16 digits>`` of a folder, ``id@commit`` of a hub id


def pin(written: str, revision: str = "main", gguf_file: str | None = None) -> Checkpoint:
    """Find a checkpoint, check that it is whole, and say what it holds.

    ``package:NAME`` is the folder of an installed package, which is not imported; then comes a
    folder; what is neither but looks like one is a hub id.

    Of a folder every byte that loading reads is digested: the headers and sizes of two steps of one
    training run are the same, so nothing less tells them apart. A branch of a hub repository is
    resolved to its commit; without a network, to the one in the local cache.

    Raises:
        ModelError: If there is no such folder or hub id, or files are missing in it.
    """
    folder = _folder(written)
    if folder.is_dir() or not _HUB_ID.fullmatch(written):
        content = f"sha256:{content_digest(loaded_files(folder, gguf_file))}"
        return Checkpoint(location=str(folder), content=content)
    commit = _hub_commit(written, revision, gguf_file or "config.json")
    content = f"{written}@{commit}" + (f"/{gguf_file}" if gguf_file else "")
    return Checkpoint(location=written, revision=commit, content=content)


def loaded_files(folder: Path, gguf_file: str | None = None) -> list[Path]:
    """Every file of a checkpoint that loading reads, sorted.

    Raises:
        ModelError: If there is no such folder, or a file is missing that must be there.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such folder")
    if gguf_file:
        return [_existing(folder / gguf_file)]
    _existing(folder / "config.json")
    read = [f for f in folder.iterdir() if f.suffix in _READ_WHEN_LOADED]
    return sorted({*read, *_weights(folder)} - {folder / name for name in _WRITTEN_BY_TRAINERS})


def content_digest(files: list[Path]) -> str:
    """Digest names and bytes of files, in 16 hexadecimal digits."""
    with ThreadPoolExecutor() as threads:
        digests = list(threads.map(_file_digest, files))
    lines = [f"{file.name} {digest}" for file, digest in zip(files, digests, strict=True)]
    return sha256("\n".join(lines).encode()).hexdigest()[:16]


def first_line(why: Exception) -> str:
    """Shorten what a library says to one line; without a text, to the kind of error.

    >>> first_line(KeyError())
    'KeyError'
    """
    return (str(why).strip().splitlines() or [type(why).__name__])[0]


def _folder(written: str) -> Path:
    if not written.startswith(_PACKAGE):
        return Path(written)
    package = written.removeprefix(_PACKAGE)
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ModelError(f"{written}: no package {package} is installed (see embedded-models.txt)")
    return Path(found.submodule_search_locations[0])


def _hub_commit(hub_id: str, revision: str, file: str) -> str:
    from huggingface_hub import hf_hub_download

    try:
        path = hf_hub_download(hub_id, file, revision=revision)
    except (OSError, ValueError) as why:  # every error of huggingface_hub is one of the two
        raise ModelError(
            f"{hub_id}: no such folder, and no {file} at revision {revision!r} of a hub"
            f" repository of that name, nor in the local cache: {first_line(why)}"
        ) from why
    # .../snapshots/<commit>/<file>, and the file may lie in folders of its own.
    return Path(path).parents[len(Path(file).parts) - 1].name


def _weights(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if index.exists():
        return [_existing(folder / shard) for shard in _shards(index)]
    weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))
    if not weights:
        raise ModelError(f"{folder}: no weights: neither model.safetensors nor its index is there")
    return weights


def _shards(index: Path) -> list[str]:
    try:
        return sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (ValueError, KeyError, AttributeError, TypeError) as why:
        raise ModelError(f"{index}: not an index of shards (no weight_map): {why}") from why


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise ModelError(f"{file.parent}: {file.name} is missing")
    return file


def _file_digest(file: Path) -> str:
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()
