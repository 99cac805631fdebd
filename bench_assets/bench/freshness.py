"""Whether tables are what they would be if they were made now: told by what goes into them.

Files are known by path, size and time of change, as in ``make``: a look at a few thousand of them
takes milliseconds, where making and checking the tables takes seconds. ``making`` says what goes
into which.
"""

import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import dagster as dg

from bench_assets.core.errors import BenchError, TableError
from bench_assets.core.tables import digest
from bench_assets.plain.questions import picture_files, place_of
from bench_assets.suite import Suite, SuiteSettings
from resources.disk.writing import written_aside
from resources.home.file_states import digest_of, state, states, texts_in
from resources.home.tables import TableFiles
from resources.models.state import files_named, state_of
from resources.people.opening import open_people
from resources.settings.bench_toml import CHECKOUT, Settings
from resources.sources.source_files import Source

NOTES = ".built"
"""Folder beside the tables that notes what they were made of."""

_CODE = [CHECKOUT / "bench_assets", CHECKOUT / "resources"]
_SUITES = CHECKOUT / "bench_assets" / "suites"  # each counts for itself
_NOT_ASKED = frozenset(SuiteSettings.model_fields)  # judge and reading: right of the waist


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """Assets that are made together, and what goes into them now."""

    name: str
    keys: frozenset[dg.AssetKey]
    made_of: str  # digest
    model: str = ""  # of which their tables are; "": of none
    tables: TableFiles
    pictures: Path  # a folder that may be deleted; it is looked for, not into

    def is_fresh(self) -> bool:
        """Whether what lies there was made of the same, all of it, and is as it was written."""
        made = f"{self.made_of} {self._made()}".encode()
        return self._noted() == made and self._is_whole()

    def note(self) -> None:
        """Note that all of it was made; not where a model's row failed: that is asked again."""
        if self.model and any(self.tables.has_errors(key.path, self.model) for key in self.keys):
            return
        with written_aside(self._note, sync=False) as file:
            file.write(f"{self.made_of} {self._made()}".encode())

    def _noted(self) -> bytes:
        with suppress(OSError):  # none, a folder in its place: then it is made again
            return self._note.read_bytes()
        return b""

    @property
    def _note(self) -> Path:
        name = f"{self.name} {self.model}".strip()
        return self.tables.root(min(self.keys).path[0]) / NOTES / quote(name, safe=" ")

    def _is_whole(self) -> bool:
        there = [key.path for key in self.keys if self.tables.exists(key.path, self.model)]
        try:
            return all(self.tables.seal(path, self.model) for path in there)
        except TableError:
            return False

    def _made(self) -> str:
        files = (self.tables.path(key.path, self.model) for key in sorted(self.keys))
        return digest_of([self.pictures.is_dir(), *map(state, files)])


def inputs(settings: Settings, suite: Suite, source: Source) -> str:
    """Digest what a suite's question tables are made of: source, choices, models, code, packages.

    Code is the suite's own and what all suites share, no other suite's. A model or path that the
    suite's settings name counts with everything that is known of it, as do the pictures that the
    file of a benchmark names. The mini edition's own folder does not count: the code draws it.
    """
    entries = settings.suites.get(suite.name, {}).items()
    chosen = {name: value for name, value in entries if name not in _NOT_ASKED}
    named = settings.models.keys() & set(texts_in(chosen))
    models = {name: state_of(name, settings) for name in named}
    folders = [*([] if source.is_mini else [source.folder]), *files_named(chosen, settings)]
    if benchmark := settings.benchmarks.get(suite.name):
        chosen["benchmark"] = benchmark.model_dump(mode="json")
        folders += picture_files(benchmark, place_of(suite.name, source.folder, settings))
    facts = [chosen, models, str(source.folder), *states(folders), *code(suite), packages()]
    return digest_of([*facts, *_heard(settings, suite)])


def _heard(settings: Settings, suite: Suite) -> Iterator[object]:
    """What people of [people] said of the suite's forms, and on which terms; nothing if unasked."""
    for form in suite.forms:
        if (asked := settings.people.forms.get(form.form.name)) is None:
            continue
        yield [form.form.name, settings.people.kind, asked.model_dump(mode="json")]
        try:
            yield digest(open_people(settings).answers(form.form))
        except BenchError as why:  # making the tables says so to who asked for them
            yield str(why)


def code(*suites: Suite) -> Iterator[list[Any]]:
    """Path, bytes and time of each file of code that tables of these suites are made by."""
    yield from states(_CODE, without=_SUITES)
    yield from states(path for suite in suites for path in suite.code)


def packages() -> int:
    """A number that changes with each installation."""
    return Path(sysconfig.get_path("purelib")).stat().st_mtime_ns
