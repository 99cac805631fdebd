"""Drift of a source: a raw file or a table of a dataset build that lost rows, or rejects more.

Such a build is not written. Its questions stay, are stale, and a person accepts the change, or
mends the source. The base is the most rows since then, so that small losses add up; it lies apart
from the tables, so that a damaged or deleted one has a base.
"""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from getpass import getuser
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.provenance import json_digest
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.build import make_rejection
from bench_assets.core.tables.read_rows import FileRows
from bench_resources.tables.parquet import TableFiles

GUARDED_STAGES = frozenset({"source", "images", "select", "distractors", "questions"})
"""Stages of a dataset build whose tables are compared."""

_FOLDER = ".bases"  # beside the tables
_ACCEPTED = "accepted"  # by a person: who, and the digest of the source
_ANY = "*"  # name of all files of a folder
_MANY = 50  # files of a folder, up to which each is compared; those of larger folders are joined
_FEW = 2  # rows that a field must have had for its loss to count
_SHOWN = 3  # changed files, or fields, that a message names


class DriftError(BenchError):
    """A raw file or a table lost too many rows, or too many are rejected."""


class Base(NamedTuple):
    """What a raw file or a table is compared with."""

    rows: int = 0  # the most since a change was accepted; of a raw file, with the rejected ones
    rejected: int = 0  # when it was accepted
    fields: Mapping[str, int] = {}  # name -> rows with the field, of a raw file
    settings: str = ""  # digest of the settings it was built with
    source: Mapping[str, str] = {}  # digests of the source's files
    accepted: str = ""  # who accepted a change, on which day, and of which source
    repeated: int = 0  # rows with the content of an earlier one, when it was accepted


_BASE_TYPE = TypeAdapter(Base)


class Counts(NamedTuple):
    """Counts of a raw file or a table of the present build."""

    rows: int
    total: int  # rows, with the rejected ones
    rejections: Sequence[Rejection] = ()
    fields: Mapping[str, int] = {}
    repeated: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftGuard:
    """Compares what a step of a dataset build read and made with what was built before.

    Attributes:
        tables: Tables of the home.
        suite: Name of the suite.
        settings: Digest of the settings of the build; a change of them is no drift.
        source: Digests of the files of the source, by name.
        limit: Share of rows that may be lost or rejected anew.
        expected: Rows that tables must have, by their path in the suite.
        accepted: Who accepts every change in this run; "": nobody.
    """

    tables: TableFiles
    suite: str
    settings: str
    source: Mapping[str, str]
    limit: float
    expected: Mapping[str, int] = field(default_factory=dict)
    accepted: str = ""

    def check_files(self, files: Mapping[str, FileRows]) -> dict[str, Base]:
        """Compare raw files that were read with their bases; returns the new bases by name.

        Raises:
            DriftError: If one drifted: names file, field, commonest reason, example and counts.
        """
        bases = {}
        for name, rows in self._group_files(files).items():
            n = len(rows.fields)
            rejections = [make_rejection(where, reason) for where, reason in rows.reasons.items()]
            counts = Counts(
                rows=n,
                total=n,
                rejections=rejections,
                fields=rows.field_counts,
                repeated=rows.n_repeated,
            )
            bases[f"files/{name}"] = self._check(f"files/{name}", name, counts)
        return bases

    def check_presence(self, folder: Path) -> None:
        """Require the raw files that were read before; forgets those whose loss is accepted.

        Raises:
            DriftError: If one is gone.
        """
        prefix = self._blob_name("files").removesuffix(".json")
        for blob in [*self.tables.blobs.list(prefix)]:
            name = blob.name.removeprefix(f"{prefix}/").removesuffix(".json")
            base = None if _ANY in name else self._comparable_base(f"files/{name}")
            if base and not (folder / name).exists():
                if not self._acceptance(base):
                    raise self._error(f"{name} is gone ({base.rows} rows before)")
                self.tables.blobs.delete(blob.name)

    def check_table(
        self, key: Sequence[str], rows: Sequence[Any], row_type: type[Any]
    ) -> dict[str, Base]:
        """Compare a table with its base, before it is written; returns the new base by name.

        Raises:
            DriftError: If it drifted.
        """
        path, n = "/".join(key[1:]), len(rows)
        name = f"tables/{path}"
        counts = Counts(rows=n, total=n)
        if row_type is Rejection:
            if not self._comparable_base(name):
                return {name: Base(rejected=n, settings=self.settings, source=self.source)}
            counts = Counts(rows=0, total=n + self._sibling_rows(key), rejections=rows)
        return {name: self._check(name, f"table {path}", counts, self.expected.get(path, 0))}

    def _group_files(self, files: Mapping[str, FileRows]) -> Mapping[str, FileRows]:
        """Join files of one row, and those of large folders: a bad file is then a bad row."""
        siblings = Counter(PurePath(name).parent for name in files)
        groups = defaultdict[str, FileRows](FileRows)
        for name, rows in files.items():
            path = PurePath(name)
            # A file that had a base of its own before may have been cut to one row.
            is_row = len(rows.fields) == 1 and not self._comparable_base(f"files/{name}")
            is_joined = is_row or siblings[path.parent] > _MANY
            group = str(path.with_name(_ANY + path.suffix)) if is_joined else name
            groups[group].add(rows)
        return groups

    def keep(self, bases: Mapping[str, Base]) -> None:
        """Write bases; call it after the tables that they describe are written."""
        for name, base in bases.items():
            self.tables.blobs.put(self._blob_name(name), json.dumps(base._asdict()).encode())

    def base(self, name: str) -> Base | None:
        """Base of ``files/NAME`` or ``tables/PATH``; None without a readable one."""
        fields = self._read(name)
        with suppress(ValidationError):  # of another version, or damaged
            return _BASE_TYPE.validate_python(fields) if fields else None
        return None

    def accept(self) -> str:
        """Accept the next build of the source as it is now, once; returns the user and the day."""
        who = f"{_user_name()} {date.today().isoformat()}"
        mark = {"who": who, "source": json_digest(dict(self.source))}
        self.tables.blobs.put(self._blob_name(_ACCEPTED), json.dumps(mark).encode())
        return who

    def _check(self, name: str, title: str, counts: Counts, expected: int = 0) -> Base:
        """Compare counts with their base; returns the new base, or raises DriftError."""
        base = self._comparable_base(name)
        # A first build has no base: its rejections are shown, and stop nothing.
        problems = [*_problems(counts, base, self.limit)] if base else []
        is_accepted = base is not None and base.accepted and counts.rows >= base.rows
        if expected - counts.rows > self.limit * expected and not is_accepted:
            problems.append(f"{counts.rows} rows ({expected} expected)")
        if not problems:
            return self._updated_base(base, counts)
        if accepted := self._acceptance(base):
            return self._updated_base(base=None, counts=counts)._replace(accepted=accepted)
        is_table = name.startswith("tables/")  # a raw file is named already
        changes = [*differences(base.source, self.source)] if base and is_table else []
        since = f"; since then: {', '.join(changes[:_SHOWN])}" if changes else ""
        raise self._error(f"{title}: {'; '.join(problems)}{since}")

    def _updated_base(self, base: Base | None, counts: Counts) -> Base:
        """Base after a build: the most rows so far; rejections and repetitions of the first."""
        n_rejected = len(counts.rejections)
        if base is None:
            base = Base(rejected=n_rejected, settings=self.settings, repeated=counts.repeated)
        rows = max(counts.rows, base.rows)
        fields = {
            name: max(counts.fields.get(name, 0), base.fields.get(name, 0))
            for name in (*base.fields, *counts.fields)
        }
        return base._replace(rows=rows, fields=fields, source=self.source)

    def _error(self, problem: str) -> DriftError:
        return DriftError(
            f"{self.suite}: {problem}. Nothing was written. Mend the source, or accept it as it is:"
            f" bench tables accept {self.suite}"
        )

    def _comparable_base(self, name: str) -> Base | None:
        """Base of a build with the same settings."""
        base = self.base(name)
        return base if base and base.settings == self.settings else None

    def _read(self, name: str) -> dict[str, Any]:
        """Content of a file of bases; {} if it is absent or damaged."""
        with suppress(ValueError, RecursionError):
            content = json.loads(self.tables.blobs.get(self._blob_name(name)) or b"{}")
            return content if isinstance(content, dict) else {}
        return {}

    def _acceptance(self, base: Base | None) -> str:
        """Who accepted a drift, and of which source; "" if nobody did, or the base has used it."""
        if self.accepted:
            return self.accepted
        mark = self._read(_ACCEPTED)
        if mark.get("source") != json_digest(dict(self.source)):
            return ""
        accepted = f"{mark['who']} {mark['source']}"
        return "" if base and base.accepted == accepted else accepted

    def _sibling_rows(self, key: Sequence[str]) -> int:
        """Rows of the largest table beside a table of rejections."""
        names = self.tables.blobs.folders(self.tables.below(key[:-1]))
        bases = (self.base("/".join(["tables", *key[1:-1], name])) for name in names)
        return max((base.rows for base in bases if base), default=0)

    def _blob_name(self, name: str) -> str:
        parts = (self.tables.root(self.suite), _FOLDER, self.suite, f"{name}.json")
        return "/".join(filter(None, parts))


def _user_name() -> str:
    """Name of the user, or its number where a container has no name for it."""
    try:
        return getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def _problems(counts: Counts, base: Base, limit: float) -> Iterator[str]:
    rejections, total = counts.rejections, counts.total
    if base.rows - counts.rows > limit * base.rows:
        yield f"{counts.rows} rows ({base.rows} before)"
    if len(rejections) - base.rejected > limit * total:
        ((commonest, _),) = Counter(row.reason for row in rejections).most_common(1)
        example = next(row.entry for row in rejections if row.reason == commonest)
        yield (
            f"{len(rejections)} of {total} rows are rejected ({base.rejected} before), mostly:"
            f" {commonest} (such as {example})"
        )
    if counts.repeated - base.repeated > limit * total:
        yield f"{counts.repeated} of {total} rows are there twice ({base.repeated} before)"
    if lost_fields := _lost_fields(counts, base, limit):
        yield ", ".join(
            f"field {name!r} in {counts.fields.get(name, 0)} rows ({base.fields[name]} before)"
            for name in lost_fields[:_SHOWN]
        )


def _lost_fields(counts: Counts, base: Base, limit: float) -> Sequence[str]:
    """Fields that lack more than the share ``limit`` of the rows, beyond rows that are lost.

    Also fields that no row has any more, unless they were rare or may have gone with lost rows.
    Inner fields of a lost one are left out.
    """
    if not counts.fields:  # not recorded for this file
        return []
    lost_rows = base.rows - counts.rows  # a field is lost with its row
    has_too_few_rows = lost_rows > limit * base.rows
    lost = set()
    for name, n_before in base.fields.items():
        n_now = counts.fields.get(name, 0)
        outnumbers_lost_rows = n_before >= _FEW and n_before > lost_rows
        has_vanished = not n_now and (has_too_few_rows or outnumbers_lost_rows)
        if has_vanished or n_before - n_now > lost_rows + limit * counts.total:
            lost.add(name)
    return [name for name in base.fields if name in lost and lost.isdisjoint(_outer_fields(name))]


def _outer_fields(name: str) -> Iterator[str]:
    """Fields that a field lies in.

    >>> [*_outer_fields("transform.words.text")]
    ['transform', 'transform.words']
    """
    parts = name.split(".")
    return (".".join(parts[:n]) for n in range(1, len(parts)))


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Describe the differences between two sets of digests by name.

    >>> [*differences({"a": "1", "b": "1"}, {"a": "2", "c": "1"})]
    ['a has changed', 'b is gone', 'c is new']
    """
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            yield f"{name} is gone"
        elif name not in before:
            yield f"{name} is new"
        elif before[name] != now[name]:
            yield f"{name} has changed"
