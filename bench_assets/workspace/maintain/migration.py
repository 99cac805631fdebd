"""``bench home migrate``: copies a home to the stores that ``[storage]`` names, and back.

Responses and vectors go to the database, tables and images to the objects. The originals stay.
"""

import io
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from bench_assets.core.schema.errors import HomeError, SettingsError, TableError
from bench_assets.workspace.console.output import print_message
from bench_resources.config.bench_toml import Settings
from bench_resources.config.stores import (
    open_home_blobs,
    open_response_file,
    open_response_store,
    open_vector_cache,
    open_vector_file,
    vectors_file,
)
from bench_resources.images.locations import KIND, is_digest
from bench_resources.storage.blobs.files import open_blobs
from bench_resources.storage.blobs.port import Blobs
from bench_resources.storage.blobs.transfer import TransferOutcome, TransferRules, transfer
from bench_resources.storage.locks import lock_holders
from bench_resources.tables.file_bytes import read_footer, verify_checksum

if TYPE_CHECKING:
    from bench_resources.storage.vectors import VectorMergeResult


def migrate_vectors(settings: Settings, *, back: bool) -> "VectorMergeResult | None":
    """Copy the vectors of a home; the originals stay.

    Args:
        settings: Settings of the home, with a database.
        back: Copy from the database to the home's file.

    Returns:
        None if the home has no vectors.

    Raises:
        HomeError: If the file or the database cannot be read or written.
    """
    file = vectors_file(settings)
    if not back and not file.exists():
        return None
    from bench_resources.storage.vectors import merge_vectors

    local, shared = open_vector_file(settings), open_vector_cache(settings)
    return merge_vectors(local, shared) if back else merge_vectors(shared, local)


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationResult:
    """Outcome of copying a part of a home; the originals stay."""

    what: str  # "responses", "tables", "images", ...
    n: int  # intact items in the target now
    new: int | None  # copied by this run; None: not counted
    left_out: int  # damaged in the source, not copied
    kept: int  # different in the target, not replaced
    source: str
    target: str


_TABLE = ".parquet"
PAINTED = "painted"
"""Folder of notes on which image was generated for which prompt."""
REPLACED = "replaced"
"""Folder for tables of the target that newer ones replaced."""


def migrate_blobs(settings: Settings, *, back: bool) -> Iterator[MigrationResult]:
    """Copy images and tables, tables last, so that a visible table has its images.

    Args:
        settings: Settings of the home, with an object store.
        back: Copy from the object store to the home's folders.

    Raises:
        HomeError: If something cannot be read or written. Copies made so far stay.
    """
    yield _copy_images(*_target_and_source(settings, KIND, back=back))
    yield _copy_generation_notes(*_target_and_source(settings, PAINTED, back=back))
    replaced, _ = _target_and_source(settings, REPLACED, back=back)
    yield _copy_tables(*_target_and_source(settings, "tables", back=back), replaced)


def _target_and_source(settings: Settings, subfolder: str, *, back: bool) -> tuple[Blobs, Blobs]:
    """Target and source of the copy."""
    local, shared = open_blobs(settings.home, subfolder), open_home_blobs(settings, subfolder)
    return (local, shared) if back else (shared, local)


def _copy_images(target: Blobs, source: Blobs) -> MigrationResult:
    """Copy images under the digest of their bytes; replaces damaged ones in the target."""
    listed = (blob for two in source.folders() for blob in source.list(two))  # may be a million
    image_blobs = (blob for blob in listed if is_digest(blob.name[3:]))
    rules = TransferRules(is_whole=_is_own_digest, is_better=_never_valid)
    return _migration_result(
        "images",
        target,
        source,
        transfer(target, source, image_blobs, rules, _progress_reporter(target)),
    )


def _copy_generation_notes(target: Blobs, source: Blobs) -> MigrationResult:
    """Copy the notes on generated images; the target's own notes stay."""
    rules = TransferRules(is_whole=_is_painted_note, is_better=_never_valid)
    became = transfer(target, source, source.list(), rules)
    return _migration_result("notes of painted images", target, source, became)


def _copy_tables(target: Blobs, source: Blobs, replaced: Blobs) -> MigrationResult:
    """Copy tables unless the target's is newer."""
    rules = TransferRules(is_whole=_is_checksummed, is_better=_is_newer, replaced=replaced)
    tables = (blob for blob in source.list() if blob.name.endswith(_TABLE))
    transferred = transfer(target, source, tables, rules)
    return _migration_result("tables", target, source, transferred)


def _is_newer(name: str, ours: bytes, theirs: bytes) -> bool:
    """Whether a table should replace another: it is newer and has other rows."""
    own_footer, other_footer = read_footer(ours, name), read_footer(theirs, name)
    return own_footer.digest != other_footer.digest and own_footer.written > other_footer.written


def _never_valid(*_: object) -> bool:
    return False


def _is_own_digest(name: str, data: bytes) -> bool:
    return sha256(data).hexdigest() == name[3:]


def _is_painted_note(name: str, data: bytes) -> bool:
    """Whether a note contains the digest of an image."""
    return is_digest(data.decode(errors="replace"))


def _is_checksummed(name: str, data: bytes) -> bool:
    """Whether a table matches its checksum."""
    try:
        return bool(verify_checksum(io.BytesIO(data)))
    except TableError:
        return False


def _progress_reporter(target: Blobs) -> Callable[[int], None]:
    return lambda n: print_message(f"{n} images are in {target.place}")


def _migration_result(
    label: str, target: Blobs, source: Blobs, became: Counter[TransferOutcome]
) -> MigrationResult:
    new = became["new"] + became["replaced"]
    return MigrationResult(
        what=label,
        n=new + became["there"],
        new=new,
        left_out=became["damaged"],
        kept=became["kept"],
        source=source.place,
        target=target.place,
    )


def migrate(settings: Settings, *, back: bool) -> list[MigrationResult]:
    """Copy responses, vectors, images and tables; the originals stay.

    Args:
        settings: Settings of the home, with a database, an object store, or both.
        back: Copy from the shared stores to the home.

    Raises:
        SettingsError: If neither is configured.
        HomeError: If a run is active in the home, or a store cannot be read or written. Copies
            made so far stay: run it again to continue.
    """
    storage = settings.storage
    if not (storage.variable or storage.objects):
        raise SettingsError(
            f"{settings.file}: no shared store is configured. Set [storage]"
            ' database = "env:NAME", with the environment variable that holds its address, or'
            ' objects = "s3://bucket/prefix" (docs/cluster.md)'
        )
    if busy := lock_holders(settings.home / "locks"):
        raise HomeError(f"{settings.home}: in use by {busy[0]}. Stop it, or wait until it ends")
    moved = [*_copy_responses(settings, back=back)] if storage.variable else []
    return [*moved, *(migrate_blobs(settings, back=back) if storage.objects else ())]


def _copy_responses(settings: Settings, *, back: bool) -> Iterator[MigrationResult]:
    if vectors := migrate_vectors(settings, back=back):
        yield MigrationResult(
            what="vectors",
            n=vectors.vectors,
            new=None,
            left_out=vectors.left_out,
            kept=0,
            source=vectors.source,
            target=vectors.target,
        )
    from bench_resources.response_cache.store import merge_into

    shared, file = open_response_store(settings), open_response_file(settings)
    target, source = (file, shared) if back else (shared, file)
    merged = merge_into(
        target, source, lambda n: print_message(f"{n} responses are in {target.place}")
    )
    for label, n, left_out in (
        ("responses", merged.responses, merged.left_out),
        ("prompts", merged.prompts, 0),
    ):
        yield MigrationResult(
            what=label,
            n=n,
            new=None,
            left_out=left_out,
            kept=0,
            source=merged.source,
            target=merged.target,
        )
