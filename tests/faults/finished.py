"""A finished home folder that is damaged again and again, and what is in it while it is whole."""

import atexit
import shutil
import tempfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.rows import Prediction
from bench_assets.workspace.materialization.workbench import Workbench
from tests.faults.homes import CLEAN, Whole, ours
from tests.faults.servers.healing import key_set
from tests.faults.servers.server import MisbehavingServer
from tests.faults.table import FoundError

TABLES = ("images", "questions", "predictions", "judgements", "scores", "metrics")


class Finished:
    """The home, its server, and its tables as they should be."""

    def __init__(self, folder: Path, server: MisbehavingServer) -> None:
        self.server = server
        self.door = Whole(folder / "home", server.base_url)
        if self.door.evaluate() != CLEAN:
            raise FoundError("a whole home does not give the right number")
        self._images = {_digest(file) for file in self.home.glob("images/*/*")}
        with self.door.bench() as bench:
            self._clean = {name: _untimed(bench.rows(f"quiz/{name}")) for name in TABLES}
        self._kept = folder / "kept"
        shutil.copytree(self.home, self._kept)

    @property
    def home(self) -> Path:
        """The folder; the same each time, since places are written down in it."""
        return self.door.home

    def restore(self) -> None:
        """Make it whole again."""
        shutil.rmtree(self.home)
        shutil.copytree(self._kept, self.home)
        self.server.received.clear()
        self.server.answered.clear()
        self.server.images.clear()

    def look(self, damaged: Path) -> str:
        """Evaluate, read every table: the same, or an error that names the place.

        Raises:
            FoundError: If a number or a row is another, or an error says nothing of the place.
        """
        findings = [self._evaluated(damaged)]
        with self.door.bench() as bench:
            findings += [self._same(bench, name, damaged, ended=findings[0]) for name in TABLES]
        if strange := self.server.images - self._images:
            raise FoundError(f"{len(strange)} images went out that are not those of the questions")
        if n := sum(self.server.received.values()):
            findings.append(f"{n} requests")
        return "; ".join(dict.fromkeys(filter(None, findings))) or "the same number"

    def _evaluated(self, damaged: Path) -> str:
        value = self.door.evaluate()
        if value is None:
            return self._named((self.home / "said.txt").read_text(encoding="utf-8"), damaged)
        if value != CLEAN:
            raise FoundError(f"another number: {value}")
        return ""

    def _same(self, bench: Workbench, name: str, damaged: Path, *, ended: str) -> str:
        try:
            rows = bench.rows(f"quiz/{name}")
        except BenchError as error:
            return self._named(ours(error), damaged)
        rows, clean = _untimed(rows), self._clean[name]
        if ended:  # what was deleted before is made again as far as that went, never otherwise
            rows = [row for row in rows if not getattr(row, "error", "")]
            clean = [row for row in clean if row in rows]
        if rows != clean:
            raise FoundError(f"{name}: other rows are read than were written")
        return ""

    def _named(self, error: str, damaged: Path) -> str:
        if damaged.name not in error and str(self.home) not in error:
            raise FoundError(f"the error does not name the place: {error}")
        return "an error that names the place"


def _untimed(rows: Sequence[Any]) -> list[Any]:
    """Rows without how long a response took, which is another when it is asked again."""
    return [replace(row, seconds=None) if isinstance(row, Prediction) else row for row in rows]


@contextmanager
def finished() -> Generator[Finished]:
    """The finished home, whole."""
    home = _made()
    home.restore()
    with key_set():
        yield home


@cache
def _made() -> Finished:
    until = ExitStack()
    atexit.register(until.close)
    folder = Path(until.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
    server = until.enter_context(MisbehavingServer())
    with key_set():
        return Finished(folder, server)


def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()
