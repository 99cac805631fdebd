"""Identity of a Hugging Face checkpoint: location, completeness, content digest.

Watched folders use a fingerprint instead of a digest of all bytes: metadata, and a few blocks of
every tensor, because the headers of two training steps are equal.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from bench_assets.core.extras import IN_PACKAGE, install_command, package_folder
from bench_assets.core.schema.errors import MissingExtraError, ModelError
from bench_resources.checkpoints.adapters import HUB_ID, base_of
from bench_resources.checkpoints.content_checksums import (
    ContentChecksum,
    ListFiles,
    take_checksum,
)
from bench_resources.checkpoints.files import (
    ADAPTER_CONFIG,
    LAYERS,
    TensorSpan,
    has_image_processor,
    has_tokenizer,
    is_adapter,
    loaded_files,
    processor_above,
    processor_files,
    refuse_truncated_archive,
    relative_names,
    tensor_spans,
    watched_files,
)
from bench_resources.checkpoints.half_copies import inspect_weights, refuse_half_copy
from bench_resources.checkpoints.hub_access import first_line, hub_access, hub_is_reachable
from bench_resources.checkpoints.training_layouts import layout_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A checkpoint pinned to its content.

    ``content`` covers every byte that loading reads: ``sha256:<16 digits>`` of a folder,
    ``id@commit`` of a hub id, then ``+adapter:...`` and ``+processor:...`` where those lie
    elsewhere. No folder name is part of it.
    """

    location: str  # of the weights (an adapter's base): a folder, or a hub id
    revision: str = "main"  # of a hub id: the commit
    content: str
    adapter: str = ""  # folder of a PEFT adapter to apply to the weights
    processor: str = ""  # folder or hub id with tokenizer and processor; "": at ``location``
    processor_revision: str = "main"  # of a hub id: the commit
    # of the files in its folders
    checksums: tuple[ContentChecksum, ...] = field(default=(), compare=False, repr=False)


def pin(
    location: str,
    revision: str = "main",
    gguf_file: str | None = None,
    *,
    processor: str = "",
    base: str = "",
) -> Checkpoint:
    """Find a checkpoint, check its completeness, and identify its content.

    A folder is digested completely: two steps of a training run differ only in the
    numbers. A branch on the hub is resolved to its commit; offline, to the one in the cache.

    Args:
        location: The checkpoint or adapter: a folder, a hub id, or ``package:NAME`` (the folder of
            an installed package, which is not imported).
        revision: Revision of a hub id; if ``location`` is an adapter's folder, of its base.
        gguf_file: Name of the GGUF file with weights and tokenizer.
        processor: Location of tokenizer and processor; "": see ``_default_processor``.
        base: Base model of an adapter; "": as recorded in the adapter.

    Raises:
        ModelError: If there is no such folder or hub id, files are missing, unreadable or changed
            meanwhile, or an adapter cannot be applied to its base.
    """
    try:
        return _pin_content(location, revision, gguf_file, processor, base)
    except OSError as error:
        raise ModelError(f"{location}: {error.filename or 'a file'}: {error.strerror}") from error


def _pin_content(
    location: str, revision: str, gguf_file: str | None, processor: str, base: str
) -> Checkpoint:
    """Pin a checkpoint as ``pin``, but raise OSError if a file cannot be read."""
    folder = _folder(location)
    if gguf_file is None and is_adapter(folder):
        pinned = _with_adapter(folder, revision, base)
    elif not folder.is_dir() and gguf_file is None and HUB_ID.fullmatch(location):
        pinned = _pin_hub_id(location, revision, base)
    else:
        pinned = _pin_weights(location, revision, gguf_file)
    if base and not pinned.adapter:
        raise ModelError(
            f"{location}: base = {base}, but this is not an adapter (no {ADAPTER_CONFIG})"
        )
    processor_path = processor or ("" if gguf_file else _default_processor(folder, pinned))
    return _with_processor(pinned, processor_path) if processor_path else pinned


def _pin_weights(location: str, revision: str, gguf_file: str | None = None) -> Checkpoint:
    """Pin the weights of a model that is not an adapter, without its processor."""
    folder = _folder(location)
    if folder.is_dir() or not HUB_ID.fullmatch(location):
        try:
            checksum = _checksum_weights(partial(loaded_files, folder, gguf_file))
        except ModelError as error:
            layout = layout_of(folder) if folder.is_dir() and not gguf_file else None
            if layout:
                raise ModelError(layout.message) from error
            raise
        content = f"sha256:{checksum.content}"
        return Checkpoint(location=str(folder), content=content, checksums=(checksum,))
    commit = hub_commit(location, revision, gguf_file or "config.json")
    content = f"{location}@{commit}" + (f"/{gguf_file}" if gguf_file else "")
    return Checkpoint(location=location, revision=commit, content=content)


def _checksum_weights(list_files: ListFiles) -> ContentChecksum:
    """Take the checksum of weights, and refuse half-written ones."""
    checksum = take_checksum(list_files)
    inspect_weights(checksum.states)
    return checksum


def _pin_hub_id(hub_id: str, revision: str, base: str) -> Checkpoint:
    """Pin a repository on the hub: a model, an adapter or layers of sentence-transformers."""
    try:
        return _pin_weights(hub_id, revision)
    except ModelError as error:
        if not _is_missing_file(error):
            raise  # of the network: the next request would wait as long
        if commit := _commit_with(ADAPTER_CONFIG, hub_id, revision):
            return _with_adapter(_download(hub_id, commit), "main", base)
        if commit := _commit_with(LAYERS, hub_id, revision):
            return Checkpoint(location=hub_id, revision=commit, content=f"{hub_id}@{commit}")
        raise


def _download(hub_id: str, commit: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        with hub_access():
            return Path(snapshot_download(hub_id, revision=commit))
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{hub_id}: its files cannot be downloaded: {first_line(error)}"
        ) from error


def _is_missing_file(error: ModelError) -> bool:
    """Whether a repository, or its local copy, was read and has no such file."""
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    cause = error.__cause__
    if isinstance(cause, LocalEntryNotFoundError):
        return cause.__cause__ is None  # else the hub could not be read
    return isinstance(cause, EntryNotFoundError)


def _commit_with(file: str, hub_id: str, revision: str) -> str:
    """Commit of a hub repository that has a file; "" if the file cannot be had."""
    with suppress(ModelError):
        return hub_commit(hub_id, revision, file)
    return ""


def _with_adapter(folder: Path, revision: str, base: str) -> Checkpoint:
    adapter_base = base_of(folder, base, revision)
    checksum = _checksum_weights(partial(loaded_files, folder))
    base_checkpoint = _pin_weights(adapter_base.place, adapter_base.revision)
    return replace(
        base_checkpoint,
        adapter=str(folder),
        content=f"{base_checkpoint.content}+adapter:sha256:{checksum.content}",
        checksums=(*base_checkpoint.checksums, checksum),
    )


def _default_processor(folder: Path, pinned: Checkpoint) -> str:
    """Default location of tokenizer and processor; "": with the weights.

    The nearest parent folder with a tokenizer. An adapter may have its own, or that of its base. An
    adapter's folder with a tokenizer but no image processor counts only if its base is a folder
    without one.
    """
    own_folder = Path(pinned.adapter or folder)
    if not own_folder.is_dir():
        return ""
    if parent := processor_above(own_folder):
        return str(parent)
    if not pinned.adapter:
        return ""
    base = Path(pinned.location)
    if has_tokenizer(own_folder) and (
        has_image_processor(own_folder) or (base.is_dir() and not has_image_processor(base))
    ):
        return str(own_folder)
    parent = processor_above(base) if base.is_dir() else None
    return str(parent) if parent else ""


def _with_processor(pinned: Checkpoint, location: str) -> Checkpoint:
    """Add a separate processor, in a folder or on the hub, to a checkpoint."""
    folder = _folder(location)
    if folder.is_dir():
        if not processor_files(folder):
            raise ModelError(f"{folder}: no tokenizer and no processor")
        checksum = take_checksum(partial(processor_files, folder))
        return replace(
            pinned,
            processor=str(folder),
            content=f"{pinned.content}+processor:sha256:{checksum.content}",
            checksums=(*pinned.checksums, checksum),
        )
    if not HUB_ID.fullmatch(location):
        raise ModelError(f"processor = {location}: no such folder")
    commit = hub_commit(location, "main", "tokenizer_config.json")
    return replace(
        pinned,
        processor=location,
        processor_revision=commit,
        content=f"{pinned.content}+processor:{location}@{commit}",
    )


def _folder(location: str) -> Path:
    """Path of a location, which need not exist; of ``package:NAME``, the package's folder."""
    if not location.startswith(IN_PACKAGE):
        return Path(location)
    package = location.removeprefix(IN_PACKAGE)
    if folder := package_folder(package):
        return folder
    raise MissingExtraError(f"{location} is not installed: {install_command(package)}")


def hub_commit(hub_id: str, revision: str = "main", file: str = "config.json") -> str:
    """Resolve a revision of a hub repository to its commit, by downloading one of its files.

    Raises:
        ModelError: If neither the hub nor the local cache has it.
    """
    from huggingface_hub import hf_hub_download

    is_online = hub_is_reachable()  # else the library tries for half a minute, file by file
    try:
        with hub_access():
            path = hf_hub_download(hub_id, file, revision=revision, local_files_only=not is_online)
        _refuse_page(Path(path))
    except (OSError, ValueError) as error:  # every error of huggingface_hub is one of the two
        if not is_online:
            raise ModelError(
                f"{hub_id}: no such folder; the hub cannot be reached, and the local cache has no"
                f" {file} at revision {revision!r}"
            ) from error
        raise ModelError(
            f"{hub_id}: no such folder, and no hub repository with {file} at revision"
            f" {revision!r}, nor is it in the local cache: {first_line(error)}"
        ) from error
    # .../snapshots/<commit>/<file>; the file may be in subfolders.
    return Path(path).parents[len(Path(file).parts) - 1].name


def _refuse_page(file: Path) -> None:
    """Raise ValueError for a web page that was sent instead of a file, and delete it."""
    with file.open("rb") as stream:
        start = stream.read(_BLOCK).lstrip()
    if start.startswith(b"<"):
        file.resolve().unlink()  # in the hub's cache, the file is a link to a blob
        file.unlink(missing_ok=True)
        raise ValueError("the hub sent a web page in its place")


_BLOCK = 4096  # bytes of a block that is read
_SMALL = 1 << 20  # bytes; files up to here are read whole
_SPREAD = 64  # blocks read of a weight file whose tensor positions are unknown


def fingerprint(folder: Path) -> str:
    """Identify the content of a checkpoint by eight hexadecimal digits.

    The base of an adapter does not count; the adapter's files name it.

    Raises:
        ModelError: If a file is missing, half-written, or has no readable header.
        OSError: If a file disappears meanwhile, or cannot be read.
    """
    files = watched_files(folder)
    spans = {file: tensor_spans(file) for file in files if file.suffix == ".safetensors"}
    for file, file_spans in spans.items():
        refuse_half_copy(file, file_spans)
    for file in files:
        if file.suffix == ".bin":
            refuse_truncated_archive(file)
    state = sha256()
    for file, name in zip(files, relative_names(files), strict=True):
        state.update(os.fsencode(f"{name} {file.stat().st_size}\n"))
        for block in _samples(file, spans.get(file)):
            state.update(block)
    return state.hexdigest()[:8]


def _samples(file: Path, spans: list[TensorSpan] | None) -> Iterator[bytes]:
    """Read what identifies the content of a file: all of a small one, else some of its blocks."""
    with file.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= _SMALL:
            yield stream.read(_SMALL)
        elif spans is None:
            yield from _blocks(stream, range(0, size, size // _SPREAD))
        else:
            yield stream.read(spans[0].start if spans else size)
            for span in spans:
                last = max(span.start, span.end - _BLOCK)
                yield from _blocks(stream, sorted({span.start, (span.start + last) // 2, last}))


def _blocks(stream: BinaryIO, offsets: Iterable[int]) -> Iterator[bytes]:
    for offset in offsets:
        stream.seek(offset)
        yield stream.read(_BLOCK)


def pin_served(path: str) -> Checkpoint:
    """Pin the weights that a server loads: a folder, or a GGUF file.

    Raises:
        ModelError: If the weights are missing or incomplete.
    """
    location = Path(path)
    if location.is_file():
        return pin(str(location.parent), gguf_file=location.name)
    if not location.is_dir():
        raise ModelError(
            f"path = {path}: no such folder. Set path to the folder or GGUF file of the weights"
        )
    return pin(path)
