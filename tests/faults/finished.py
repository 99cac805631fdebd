"""A home folder with a finished evaluation, which is damaged and restored again and again."""

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
from tests.faults.homes import CLEAN, BenchHome, require_own_error
from tests.faults.servers.healing import key_set
from tests.faults.servers.server import MisbehavingServer
from tests.faults.table import FindingError

TABLES = ("images", "questions", "predictions", "judgements", "scores", "metrics")


class FinishedHome:
    """The home, its server, and its tables as they should be."""

    def __init__(self, folder: Path, server: MisbehavingServer) -> None:
        self.server = server
        self._home = BenchHome(folder / "home", server.base_url)
        if self._home.evaluate() != CLEAN:
            raise FindingError("a whole home does not give the right number")
        self._images = {_digest(file) for file in self.folder.glob("images/*/*")}
        with self._home.bench() as bench:
            self._rows = {name: _untimed(bench.rows(f"quiz/{name}")) for name in TABLES}
        self._backup = folder / "kept"
        shutil.copytree(self.folder, self._backup)

    @property
    def folder(self) -> Path:
        """The home folder; the same each time, since its files contain its path."""
        return self._home.folder

    def restore(self) -> None:
        """Undo all damage, and forget all requests."""
        shutil.rmtree(self.folder)
        shutil.copytree(self._backup, self.folder)
        self.server.received.clear()
        self.server.answered.clear()
        self.server.images.clear()

    def check(self, damaged: Path) -> str:
        """Evaluate and read every table after a damage; returns what happened.

        Raises:
            FindingError: If a number or a row changed, or an error does not name the file.
        """
        evaluation_error = self._evaluation_error(damaged)
        effects = [evaluation_error]
        with self._home.bench() as bench:
            for name in TABLES:
                error = self._table_error(bench, name, damaged, is_partial=bool(evaluation_error))
                effects.append(error)
        if wrong_images := self.server.images - self._images:
            raise FindingError(
                f"{len(wrong_images)} images went out that are not those of the questions"
            )
        if n_requests := self.server.received.total():
            effects.append(f"{n_requests} requests")
        return "; ".join(dict.fromkeys(filter(None, effects))) or "the same number"

    def _evaluation_error(self, damaged: Path) -> str:
        """Evaluate; returns "" if the number is right, else what kind of error ended it."""
        value = self._home.evaluate()
        if value is None:
            output = (self.folder / "output.txt").read_text(encoding="utf-8")
            return self._require_place(output, damaged)
        if value != CLEAN:
            raise FindingError(f"another number: {value}")
        return ""

    def _table_error(self, bench: Workbench, name: str, damaged: Path, *, is_partial: bool) -> str:
        """Compare a table with the original; returns "" or what kind of error reading it raised."""
        try:
            rows = _untimed(bench.rows(f"quiz/{name}"))
        except BenchError as error:
            require_own_error(error)
            return self._require_place(str(error), damaged)
        expected = self._rows[name]
        if is_partial:  # deleted rows are made again up to the error, but never changed
            rows = [row for row in rows if not getattr(row, "error", "")]
            expected = [row for row in expected if row in rows]
        if rows != expected:
            raise FindingError(f"{name}: other rows are read than were written")
        return ""

    def _require_place(self, error: str, damaged: Path) -> str:
        if damaged.name not in error and str(self.folder) not in error:
            raise FindingError(f"the error does not name the place: {error}")
        return "an error that names the place"


def _untimed(rows: Sequence[Any]) -> list[Any]:
    """Rows without the duration of a response, which changes when it is asked again."""
    return [replace(row, seconds=None) if isinstance(row, Prediction) else row for row in rows]


@contextmanager
def finished() -> Generator[FinishedHome]:
    """The finished home without damage, and the key in the environment."""
    home = _finished_home()
    home.restore()
    with key_set():
        yield home


@cache
def _finished_home() -> FinishedHome:
    """Evaluate in a new home, which lasts as long as this process."""
    stack = ExitStack()
    atexit.register(stack.close)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
    server = stack.enter_context(MisbehavingServer())
    with key_set():
        return FinishedHome(folder, server)


def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()
