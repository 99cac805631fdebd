"""Images written and read as files and as objects, and names listed in an object store.

The images are bytes that are not decoded. The object store is a local folder: the time of a network
is not included.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
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

_N_IMAGES = 100_000
_IMAGE_SIZE = 4_000  # bytes
_N_NAMES = 1_000_000
_N_THREADS = 8

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def measure(folder: Path) -> list[Figure]:
    """Write and read images in a folder and in an object store; list names in another store."""
    from obstore.store import LocalStore, MemoryStore

    files = ImageFolder(str(folder / "images"))
    blobs = ObjectBlobs(LocalStore(folder / "objects", mkdir=True), "a local store")
    cached = _BlobImages("", "", str(folder / "cached"), blobs=blobs)
    uncached = _BlobImages("", "", str(folder / "uncached"), blobs=blobs)
    digests, file_writing = _run_in_threads(partial(_write_image, files), range(_N_IMAGES))
    _, file_reading = _run_in_threads(files.read, digests)
    _, object_writing = _run_in_threads(partial(_write_image, cached), range(_N_IMAGES))
    _, cache_reading = _run_in_threads(cached.read, digests)
    _, object_reading = _run_in_threads(uncached.read, digests)
    title = f"{_N_IMAGES:,} images"
    return [
        Figure(f"{title} written as files", file_writing, at_most=60, unit="s"),
        Figure(f"{title} read as files", file_reading, at_most=30, unit="s"),
        Figure(f"{title} written as objects", object_writing, at_most=180, unit="s"),
        Figure(f"{title} read as objects, cached", cache_reading, at_most=30, unit="s"),
        Figure(f"{title} read as objects, not cached", object_reading, at_most=120, unit="s"),
        _measure_listing(MemoryStore()),
    ]


def _measure_listing(store: "MemoryStore") -> Figure:
    """List the names that begin with ``ab``, about a 256th, as a move of images does by steps."""
    n_listed = 0
    for number in range(_N_NAMES):
        digest = sha256(b"%d" % number).hexdigest()
        store.put(f"{digest[:2]}/{digest}", b"")
        n_listed += digest.startswith("ab")
    started = perf_counter()
    entries = list(ObjectBlobs(store, "memory").list("ab"))
    seconds = perf_counter() - started
    assert len(entries) == n_listed
    return Figure(f"a 256th of {_N_NAMES:,} names listed", seconds, at_most=1, unit="s")


def _write_image(images: ImageLocation, number: int) -> str:
    """Write bytes that start with the number, and return their digest."""
    data = b"%d".ljust(_IMAGE_SIZE) % number
    digest = sha256(data).hexdigest()
    images.write(digest, data)
    return digest


def _run_in_threads(
    function: Callable[[Argument], Result], arguments: Iterable[Argument]
) -> tuple[list[Result], float]:
    """The results of calls in several threads, and the seconds of all."""
    started = perf_counter()
    with ThreadPoolExecutor(_N_THREADS) as threads:
        results = list(threads.map(function, arguments))
    return results, perf_counter() - started


@dataclass(frozen=True)
class _BlobImages(ObjectImages):
    """Images in blobs that are given instead of an address."""

    blobs: Blobs

    @property
    def _blobs(self) -> Blobs:
        return self.blobs
