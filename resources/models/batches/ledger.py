"""The batches that are out: noted in the home before they are waited for.

A run that is killed has lost nothing then: the next one asks what became of them.
"""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

from resources.storage.atomic_write import open_atomic

_KEPT = 30 * 86_400  # s; providers keep results for about as long


@dataclass(frozen=True, slots=True, kw_only=True)
class Out:
    """A batch that is out, or about to be."""

    tag: str  # ours
    batch: str  # the server's name for it; "": handed over, and no answer seen yet
    since: float  # s since the epoch
    ids: tuple[str, ...]  # custom_id of each request


class BatchLedger:
    """The batches of one model: a file each."""

    def __init__(self, folder: Path, identity: str) -> None:
        """``folder`` is that of all models."""
        self._folder = folder / sha256(identity.encode()).hexdigest()[:16]

    def all(self) -> Iterator[Out]:
        """Those that are out; what is older than results are kept is forgotten."""
        for file in sorted(self._folder.glob("*.json")):
            try:
                said = json.loads(file.read_text("utf-8"))
                ids = tuple(map(str, said["ids"]))
                since, batch = float(said["since"]), str(said["batch"])
            except (OSError, ValueError, RecursionError, TypeError, KeyError):
                continue  # damaged, or none of ours
            out = Out(tag=file.stem, batch=batch, since=since, ids=ids)
            if time.time() - out.since > _KEPT:
                self.forget(out)
            else:
                yield out

    def note(self, tag: str, ids: Sequence[str]) -> Out:
        """Note that a batch is about to be handed over.

        Raises:
            HomeError: If it cannot be: then it is not handed over either.
        """
        return self._write(Out(tag=tag, batch="", since=time.time(), ids=tuple(ids)))

    def name(self, out: Out, batch: str) -> Out:
        """Note what the server calls it."""
        return self._write(replace(out, batch=batch))

    def forget(self, out: Out) -> None:
        """Take a batch out: it was collected, or came to nothing."""
        (self._folder / f"{out.tag}.json").unlink(missing_ok=True)

    def _write(self, out: Out) -> Out:
        with open_atomic(self._folder / f"{out.tag}.json") as file:
            file.write(json.dumps(asdict(out)).encode())
        return out
