"""Ledger of open batches in the home, written before they are awaited."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bench_resources.storage.atomic_write import open_atomic

_RETENTION_SECONDS = 30 * 86_400  # s; providers keep results for about as long


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBatch:
    """An open batch."""

    tag: str  # our name for it
    batch: str  # the server's id; "": submitted, without a response yet
    since: float  # s since the epoch
    ids: tuple[str, ...]  # custom_id of each request


_OPEN_BATCH = TypeAdapter(OpenBatch)


class BatchLedger:
    """The open batches of one model, one file each."""

    def __init__(self, folder: Path, identity: str) -> None:
        """Use a subfolder of ``folder`` for the model of this identity."""
        self._folder = folder / sha256(identity.encode()).hexdigest()[:16]

    def all(self) -> Iterator[OpenBatch]:
        """The open batches; those older than 30 days, whose results are lost, are removed."""
        for file in sorted(self._folder.glob("*.json")):
            try:
                out = _OPEN_BATCH.validate_json(file.read_bytes())
            except (OSError, ValidationError):
                continue  # damaged, or not ours
            if time.time() - out.since > _RETENTION_SECONDS:
                self.forget(out)
            else:
                yield out

    def note(self, tag: str, ids: Sequence[str]) -> OpenBatch:
        """Record a batch that is about to be submitted.

        Raises:
            HomeError: If it cannot be recorded; then it must not be submitted.
        """
        return self._write(OpenBatch(tag=tag, batch="", since=time.time(), ids=tuple(ids)))

    def name(self, out: OpenBatch, batch: str) -> OpenBatch:
        """Record the server's id of a batch."""
        return self._write(replace(out, batch=batch))

    def forget(self, out: OpenBatch) -> None:
        """Remove a batch that was collected or failed."""
        (self._folder / f"{out.tag}.json").unlink(missing_ok=True)

    def _write(self, out: OpenBatch) -> OpenBatch:
        with open_atomic(self._folder / f"{out.tag}.json") as file:
            file.write(json.dumps(asdict(out)).encode())
        return out
