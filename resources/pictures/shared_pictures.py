"""Pictures as objects that homes share; those that were fetched are kept on this machine."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench_assets.core.errors import ImageError
from resources.blobs.opening import open_blobs
from resources.blobs.port import Blobs
from resources.pictures.fetched import Fetched
from resources.pictures.places import KIND, as_stored, is_digest

_THREADS = 16  # objects that are waited for at once
_AT_ONCE = 256  # pictures, between two looks at the room that is left


@dataclass(frozen=True, slots=True)
class SharedPictures:
    """Objects of a store; who reads them keeps them near."""

    objects: str  # as [storage] names them
    endpoint: str
    fetched: str  # a folder
    limit: int  # bytes of it

    @property
    def name(self) -> str:
        """The address."""
        return self._blobs.place

    def where(self, digest: str) -> str:
        """The address of the object."""
        return f"{self.name}/{_named(digest)}"

    def goes(self, digest: str) -> str:
        """None of ours."""
        return ""

    def read(self, digest: str, *, afresh: bool = False) -> bytes:
        """Read what was fetched, or else fetch it."""
        if not is_digest(digest):
            raise ImageError(f"no picture {digest} in {self.name}")
        if not afresh and (known := self._fetched.get(digest)):
            return known
        if (data := self._blobs.get(_named(digest))) is None:
            raise ImageError(f"no picture {digest} in {self.name}")
        as_stored(data, digest, self.name)
        if not afresh:
            self._fetched.keep(digest, data)
        return data

    def keep(self, digest: str, data: bytes) -> None:
        """Write the object, unless it lies there whole; of two at once one writes."""
        there = self._blobs.get(_named(digest))
        if there is None and self._blobs.put_new(_named(digest), data):
            there = data
        if there is not None and there != data:
            self._blobs.put(_named(digest), data)
        self._fetched.keep(digest, data)

    def sizes(self, digests: Iterable[str]) -> dict[str, int]:
        """List the objects that begin alike."""
        wanted = {digest for digest in digests if is_digest(digest)}
        listed = self._listed(sorted({digest[:2] for digest in wanted}))
        return {digest: size for digest, size in listed if digest in wanted}

    def every(self) -> Iterator[str]:
        """All objects that have such a name, in parts: there may be a million."""
        listed = self._listed([f"{n:02x}" for n in range(256)])
        return (digest for digest, _ in listed if is_digest(digest))

    def bring(self, digests: Iterable[str]) -> None:
        """Fetch those that are not here, several at once, and no more than may lie here."""
        wanted = [digest for digest in dict.fromkeys(digests) if is_digest(digest)]
        here = self._fetched.sizes(wanted)
        room = self.limit - sum(here.values())
        missing = [digest for digest in wanted if digest not in here]
        with ThreadPoolExecutor(_THREADS) as threads:
            while missing and room > 0:
                room -= sum(threads.map(self._brought, missing[:_AT_ONCE]))
                del missing[:_AT_ONCE]

    def _brought(self, digest: str) -> int:
        try:
            return len(self.read(digest))
        except ImageError:  # whoever reads it says so
            return 0

    def _listed(self, beginnings: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Digests and sizes of all that begin so."""
        with ThreadPoolExecutor(_THREADS) as threads:
            for n in range(0, len(beginnings), _THREADS):
                part = beginnings[n : n + _THREADS]
                for found in threads.map(lambda two: list(self._blobs.list(two)), part):
                    yield from ((one.name.rpartition("/")[2], one.size) for one in found)

    @property
    def _blobs(self) -> Blobs:
        return _opened(self.objects, self.endpoint)

    @property
    def _fetched(self) -> Fetched:
        return _kept_here(self.fetched, self.limit)


@cache
def _opened(objects: str, endpoint: str) -> Blobs:
    """Opened once in each process, which makes connections of its own."""
    return open_blobs(Path(), KIND, objects, endpoint)


@cache
def _kept_here(folder: str, limit: int) -> Fetched:
    return Fetched(Path(folder), limit)


def _named(digest: str) -> str:
    return f"{digest[:2]}/{digest}"
