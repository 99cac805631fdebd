"""Copies blobs between stores, with read-back verification; can be repeated at any time."""

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Literal, TypeAlias

from bench_assets.core.schema.errors import HomeError
from bench_resources.storage.blobs.port import BlobEntry, Blobs

_THREADS = 16  # small blobs that are copied at once
_SMALL = 8 * 2**20  # bytes; larger blobs are copied one at a time
_BATCH_SIZE = 1000  # blobs between two reports
_DIGITS = 16

TransferOutcome: TypeAlias = Literal["new", "there", "replaced", "kept", "damaged", "gone"]
"""Outcome for a blob: written; already in the target; written over other bytes; not written, since
the target keeps its own bytes; not written, since the source is damaged; deleted meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferRules:
    """Rules of a transfer: which blobs are valid, and which of two stays."""

    is_whole: Callable[[str, bytes], bool]
    """Whether bytes are intact; takes a name and its bytes."""
    is_better: Callable[[str, bytes, bytes], bool]
    """Whether the source's bytes replace the target's intact ones; takes a name and both."""
    replaced: Blobs | None = None
    """Store for intact bytes that are replaced; None: they are not kept."""


def transfer(
    target: Blobs,
    source: Blobs,
    listed: Iterable[BlobEntry],
    rules: TransferRules,
    watch: Callable[[int], object] = lambda n: None,
) -> Counter[TransferOutcome]:
    """Copy blobs, and verify their arrival; the source is unchanged.

    Args:
        target: Store to write to.
        source: Store to read from.
        listed: Blobs to copy.
        rules: Validity and precedence of blobs.
        watch: Receives the number of blobs handled so far.

    Raises:
        HomeError: If a blob cannot be read, written or verified. Copies made so far stay.
    """
    became: Counter[TransferOutcome] = Counter()

    def take(one: BlobEntry) -> TransferOutcome:
        return _transfer_one(target, source, one.name, rules)

    each = iter(listed)
    with ThreadPoolExecutor(_THREADS) as threads:
        while part := list(islice(each, _BATCH_SIZE)):
            became.update(threads.map(take, (blob for blob in part if blob.size <= _SMALL)))
            became.update(take(blob) for blob in part if blob.size > _SMALL)
            watch(became.total())
    return became


def _transfer_one(target: Blobs, source: Blobs, name: str, rules: TransferRules) -> TransferOutcome:
    data = source.get(name)
    if data is None:
        return "gone"
    if not rules.is_whole(name, data):
        return "damaged"
    if (existing := target.get(name)) is None and target.put_new(name, data):
        _require_same_bytes(target, name, data)
        return "new"
    if existing is None:  # another process was faster
        existing = target.get(name)
    if existing == data:
        return "there"
    if existing is not None and not _may_replace(name, data, existing, rules):
        return "kept"
    target.put(name, data)
    _require_same_bytes(target, name, data)
    return "replaced"


def _may_replace(name: str, data: bytes, there: bytes, rules: TransferRules) -> bool:
    """Whether other bytes may replace existing ones; undamaged ones are kept apart."""
    if not rules.is_whole(name, there):
        return True
    better = rules.is_better(name, data, there)
    if better and rules.replaced:
        rules.replaced.put_new(f"{name}.{sha256(there).hexdigest()[:_DIGITS]}", there)
    return better


def _require_same_bytes(target: Blobs, name: str, data: bytes) -> None:
    """Verify that bytes arrived.

    Raises:
        HomeError: If they did not.
    """
    if target.get(name) != data:
        raise HomeError(
            f"{target.named(name)}: differs after it was written; nothing was deleted. Run the"
            " command again"
        )
