"""The part of ``bench migrate`` that takes tables and pictures over: files to objects, or back."""

import io
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from threading import Lock

from bench_assets.bench.freshness import NOTES
from bench_assets.bench.moved import Moved
from bench_assets.bench.printing import say
from bench_assets.core.errors import TableError
from resources.blobs.moving import Became, Rules, move
from resources.blobs.opening import open_blobs
from resources.blobs.port import Blobs
from resources.home.seals import verify
from resources.home.table_facts import facts_of
from resources.home.table_places import PLACES
from resources.pictures.places import KIND, is_digest
from resources.settings.bench_toml import Settings
from resources.settings.stores import blobs_of

_TABLE = ".parquet"
PAINTED = "painted"
"""Which picture was painted for which prompt, see ``resources.pictures.text_to_image``."""
REPLACED = "replaced"
"""What newer tables took the place of, below the place they came to."""


def migrate_blobs(settings: Settings, *, back: bool) -> Iterator[Moved]:
    """Take pictures and tables over, tables last: who sees one has its pictures.

    Args:
        settings: The home's, which name objects.
        back: From the objects into the home's folders.

    Raises:
        HomeError: If something cannot be read or written. All that was taken over stays there.
    """
    yield _pictures(*_both(settings, KIND, back=back))
    yield _painted(*_both(settings, PAINTED, back=back))
    replaced, _ = _both(settings, REPLACED, back=back)
    yield from _tables(*_both(settings, "tables", back=back), replaced)


def _both(settings: Settings, below: str, *, back: bool) -> tuple[Blobs, Blobs]:
    """Where something is to be, and where it is."""
    here, shared = open_blobs(settings.home, below), blobs_of(settings, below)
    return (here, shared) if back else (shared, here)


def _pictures(target: Blobs, source: Blobs) -> Moved:
    """Pictures, each under the digest of its bytes; one that is damaged in the target is mended."""
    listed = (one for two in source.folders() for one in source.list(two))  # may be a million
    named = (one for one in listed if is_digest(one.name[3:]))
    rules = Rules(is_whole=_is_own_digest, is_better=_never)
    return _moved("pictures", target, source, move(target, source, named, rules, _told(target)))


def _painted(target: Blobs, source: Blobs) -> Moved:
    """Notes of what was painted; what the target remembers it goes on to remember."""
    rules = Rules(is_whole=_is_note, is_better=_never)
    became = move(target, source, source.list(), rules)
    return _moved("notes of painted pictures", target, source, became)


def _tables(target: Blobs, source: Blobs, replaced: Blobs) -> Iterator[Moved]:
    """Tables, of which the newer stays; then the notes that say what they were made of."""
    listed = list(source.list())
    kept = _Kept()
    rules = Rules(is_whole=_is_sealed, is_better=kept.is_newer, replaced=replaced)
    found = move(target, source, (one for one in listed if one.name.endswith(_TABLE)), rules)
    yield _moved("tables", target, source, found)
    rules = Rules(is_whole=lambda *_: True, is_better=lambda name, *_: not kept.beside(name))
    became = move(target, source, (one for one in listed if f"{NOTES}/" in one.name), rules)
    yield _moved("notes of what was made", target, source, became)


class _Kept:
    """Which tables of the target stayed although the source has others."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._lock = Lock()

    def is_newer(self, name: str, ours: bytes, theirs: bytes) -> bool:
        """Whether a table should take the place of another: of the same rows none does."""
        here, there = facts_of(ours, name), facts_of(theirs, name)
        newer = here.digest != there.digest and here.written > there.written
        if not newer:
            with self._lock:
                self._names.append(name)
        return newer

    def beside(self, note: str) -> bool:
        """Whether one of them is of the same source as a note: then the target's note is right."""
        return any(_place_of(name) == _place_of(note) for name in self._names)


def _place_of(name: str) -> str:
    """Below what the tables of a source lie; "" for those of the source that is not named."""
    parts = name.split("/")
    return parts[1] if parts[0] == PLACES else ""


def _never(*_: object) -> bool:
    return False


def _is_own_digest(name: str, data: bytes) -> bool:
    return sha256(data).hexdigest() == name[3:]


def _is_note(name: str, data: bytes) -> bool:
    """Whether it names a picture."""
    return is_digest(data.decode(errors="replace"))


def _is_sealed(name: str, data: bytes) -> bool:
    """Whether a table is as it was written; an older one without a seal, whether it is one."""
    try:
        return verify(io.BytesIO(data)) == "whole" or bool(facts_of(data, name))
    except TableError:
        return False


def _told(target: Blobs) -> Callable[[int], None]:
    return lambda n: say(f"{n} pictures are in {target.place}")


def _moved(what: str, target: Blobs, source: Blobs, became: Counter[Became]) -> Moved:
    new = became["new"] + became["replaced"]
    return Moved(
        what=what,
        n=new + became["there"],
        new=new,
        left_out=became["damaged"],
        kept=became["kept"],
        source=source.place,
        target=target.place,
    )
