"""Images put and read: a hundred thousand as files and as objects, and one part of a million.

Bytes as long as a small image's: to decode them is another figure. A store that is reached over a
network is as fast as that; what is measured here is what is done around it.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from bench_resources.cluster.object_store import ObjectBlobs
from bench_resources.images.locations import ImageFolder, ImageLocation, ObjectImages
from bench_resources.storage.blobs.port import Blobs
from benchmarks.figures import Figure

if TYPE_CHECKING:
    from obstore.store import MemoryStore

_N = 100_000
_BYTES = 4_000  # of an image
_MANY = 1_000_000
_THREADS = 8

One = TypeVar("One")
Made = TypeVar("Made")


def measure(folder: Path) -> list[Figure]:
    """Put and read images in files and through obstore's store of files; list among a million."""
    from obstore.store import LocalStore, MemoryStore

    files = ImageFolder(str(folder / "images"))
    objects = ObjectBlobs(LocalStore(folder / "objects", mkdir=True), "a store of files")
    first, second = (_over(objects, folder / name) for name in ("first", "second"))
    digests, put_files = _timed(lambda n: _put(files, n), range(_N))
    _, read_files = _timed(files.read, digests)
    _, put_objects = _timed(lambda n: _put(first, n), range(_N))
    _, read_here = _timed(first.read, digests)
    _, read_there = _timed(second.read, digests)
    named = f"{_N:.0e} images"
    return [
        Figure(what=f"{named} put: files", value=put_files, most=60, unit="s"),
        Figure(what=f"{named} read: files", value=read_files, most=30, unit="s"),
        Figure(what=f"{named} put: objects", value=put_objects, most=180, unit="s"),
        Figure(what=f"{named} read: objects, fetched", value=read_here, most=30, unit="s"),
        Figure(what=f"{named} read: objects, not fetched", value=read_there, most=120, unit="s"),
        _one_part(MemoryStore()),
    ]


def _one_part(store: "MemoryStore") -> Figure:
    """Find the 256th part of a million names by their beginning, as each step of a move does."""
    names = [_named(store, number) for number in range(_MANY)]
    started = perf_counter()
    found = list(ObjectBlobs(store, "memory").list("ab"))
    seconds = perf_counter() - started
    assert len(found) == sum(name.startswith("ab") for name in names)
    return Figure(what=f"one of 256 parts of {_MANY:.0e} listed", value=seconds, most=1, unit="s")


def _named(store: "MemoryStore", number: int) -> str:
    digest = sha256(b"%d" % number).hexdigest()
    store.put(f"{digest[:2]}/{digest}", b"")
    return digest


def _put(place: ImageLocation, number: int) -> str:
    data = b"%d".ljust(_BYTES) % number
    digest = sha256(data).hexdigest()
    place.write(digest, data)
    return digest


def _timed(work: Callable[[One], Made], each: Iterable[One]) -> tuple[list[Made], float]:
    started = perf_counter()
    with ThreadPoolExecutor(_THREADS) as threads:
        made = list(threads.map(work, each))
    return made, perf_counter() - started


@dataclass(frozen=True)
class _Over(ObjectImages):
    """Over blobs that no address leads to."""

    blobs: Blobs

    @property
    def _blobs(self) -> Blobs:
        return self.blobs


def _over(blobs: Blobs, fetched: Path) -> _Over:
    return _Over("", "", str(fetched), blobs=blobs)
