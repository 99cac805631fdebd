"""Drift of a source: a table of a dataset build that lost rows, or rejects more than before.

Such a table is not written. Its questions stay, are stale, and a person accepts the change, or
mends the source. The base is the most rows since then, so that small losses add up; it lies apart
from the tables, so that a damaged or deleted one has a base.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from getpass import getuser
from typing import Any, NamedTuple

from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.provenance import json_digest
from bench_assets.core.schema.rows import Question, Rejection
from bench_resources.tables.parquet import TableFiles

GUARDED_STAGES = frozenset({"source", "images", "select", "distractors", "questions"})
"""Stages of a dataset build whose tables are compared."""

_RELEASED = frozenset({"published", "own"})  # editions without rejections by people
_FOLDER = ".bases"  # beside the tables
_ACCEPTED = ".accepted"  # by a person: who, and the digest of the source
_SHOWN = 3  # changed files that a message names


class DriftError(BenchError):
    """A table lost too many rows, or too many are rejected."""


class Base(NamedTuple):
    """What a table is compared with."""

    rows: int = 0  # the most since a change was accepted
    rejected: int = 0  # when it was accepted
    settings: str = ""  # digest of the settings it was built with
    source: Mapping[str, str] = {}  # digests of the source's files
    accepted: str = ""  # who accepted a change, on which day, and of which source


class Counts(NamedTuple):
    """What was built now."""

    rows: int
    total: int  # rows of which some are rejected
    rejections: Sequence[Rejection] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftGuard:
    """Compares the tables of a dataset build with what was built before.

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

    def check(self, key: Sequence[str], rows: Sequence[Any], row_type: type[Any]) -> Base:
        """Compare a table with its base, before it is written; returns the new base.

        Raises:
            DriftError: If it drifted.
        """
        path, n = "/".join(key[1:]), len(rows)
        base, counts = self.base(path), Counts(n, n)
        before = base if base and base.settings == self.settings else None
        if row_type is Rejection:
            if not before:  # the first one is judged with its questions
                return Base(rejected=n, settings=self.settings, source=self.source)
            counts = Counts(0, n + self._sibling_rows(key), rows)
        elif row_type is Question and rows and not before and rows[0].edition in _RELEASED:
            rejections = self._rejections(key)
            counts = Counts(n, n + len(rejections), rejections)
        return self._check(path, counts, before)

    def keep(self, key: Sequence[str], base: Base) -> None:
        """Write the base of a table, once the table is written."""
        self.tables.blobs.put(self._blob("/".join(key[1:])), json.dumps(base._asdict()).encode())

    def base(self, path: str) -> Base | None:
        """Base of a table, by its path in the suite; None if it was never built."""
        with suppress(ValueError, TypeError):
            return Base(**json.loads(self.tables.blobs.get(self._blob(path)) or b"null"))
        return None

    def accept(self) -> str:
        """Accept the next build of the source as it is now, once; returns who did, and the day."""
        who = f"{getuser()} {date.today().isoformat()}"
        mark = {"who": who, "source": json_digest(dict(self.source))}
        self.tables.blobs.put(self._blob(_ACCEPTED), json.dumps(mark).encode())
        return who

    def _check(self, path: str, counts: Counts, before: Base | None) -> Base:
        expected, rejected = self.expected.get(path, 0), len(counts.rejections)
        new = Base(
            max(counts.rows, before.rows if before else 0),
            before.rejected if before else rejected,
            self.settings,
            self.source,
            before.accepted if before else "",
        )
        problems = [*_problems(counts, before, self.limit)]
        if expected - counts.rows > self.limit * expected:
            problems.append(f"{counts.rows} rows ({expected} expected)")
        if not problems:
            return new
        if accepted := self._acceptance(before):
            return Base(counts.rows, rejected, self.settings, self.source, accepted)
        changes = [*differences(before.source, self.source)] if before else []
        since = f"; since then: {', '.join(changes[:_SHOWN])}" if changes else ""
        raise DriftError(
            f"{self.suite}: table {path}: {'; '.join(problems)}{since}. It was not written."
            f" Mend the source, or accept it as it is: bench tables accept {self.suite}"
        )

    def _acceptance(self, before: Base | None) -> str:
        """Who accepted a drift of what has this base; "" if nobody did, or it has passed."""
        if self.accepted:
            return self.accepted
        mark = json.loads(self.tables.blobs.get(self._blob(_ACCEPTED)) or b"{}")
        if mark.get("source") != json_digest(dict(self.source)):
            return ""
        accepted = f"{mark['who']} {mark['source']}"
        return "" if before and before.accepted == accepted else accepted

    def _sibling_rows(self, key: Sequence[str]) -> int:
        """Rows of the largest table beside a table of rejections."""
        names = self.tables.blobs.folders(self.tables.below(key[:-1]))
        bases = (self.base("/".join([*key[1:-1], name])) for name in names)
        return max((base.rows for base in bases if base), default=0)

    def _rejections(self, key: Sequence[str]) -> Sequence[Rejection]:
        """Rejections beside a table of questions, or in the suite."""
        for folder in (key[:-1], key[:1]):
            if self.tables.exists([*folder, "rejections"]):
                return self.tables.read([*folder, "rejections"], Rejection)
        return ()

    def _blob(self, name: str) -> str:
        parts = (self.tables.root(self.suite), _FOLDER, self.suite, f"{name}.json")
        return "/".join(filter(None, parts))


def _problems(counts: Counts, before: Base | None, limit: float) -> Iterator[str]:
    """Describe the drift, if there is any."""
    rejections, total, base = counts.rejections, counts.total, before or Base()
    if base.rows - counts.rows > limit * base.rows:
        yield f"{counts.rows} rows ({base.rows} before)"
    if len(rejections) - base.rejected > limit * total:
        reasons = [row.reason for row in rejections]
        commonest = max(dict.fromkeys(reasons), key=reasons.count)
        example = next(row.entry for row in rejections if row.reason == commonest)
        yield (
            f"{len(rejections)} of {total} rows are rejected ({base.rejected} before), mostly:"
            f" {commonest} (such as {example})"
        )


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Describe differences.

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
