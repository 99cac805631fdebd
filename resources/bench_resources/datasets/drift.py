"""Drift of a source: a table of a dataset build that lost rows, or rejects more than before.

Such a table is not written. Its questions stay, are stale, and a person accepts the change, or
mends the source. The base is the most rows since then, so that small losses add up.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from getpass import getuser
from typing import Any, NamedTuple

from bench_assets.core.schema.errors import BenchError, TableError
from bench_assets.core.schema.rows import Rejection
from bench_resources.tables.file_bytes import table_name
from bench_resources.tables.parquet import TableFiles

GUARDED_STAGES = frozenset({"images", "select", "distractors", "questions"})
"""Stages of a dataset build whose tables are compared."""

_BASE = b"bench_base"
_FOLDER = ".accepted"  # beside the tables: one file for each accepted table


class DriftError(BenchError):
    """A table lost too many rows, or too many are rejected."""


class Base(NamedTuple):
    """What a table is compared with."""

    rows: int  # the most since a change was accepted
    settings: str  # digest of the settings it was built with
    accepted: str = ""  # who accepted a change, and on which day

    def encode(self) -> str:
        """Format as JSON."""
        return json.dumps(self)


def base_of(tables: TableFiles, key: Sequence[str]) -> Base | None:
    """Base of a table; None if it was never written, or cannot be read."""
    with suppress(TableError, ValueError, RecursionError, TypeError):
        if tables.exists(key):
            with tables.opened(key) as file:
                return Base(*json.loads((file.schema_arrow.metadata or {})[_BASE]))
    return None


def check_drift(
    tables: TableFiles,
    key: Sequence[str],
    rows: Sequence[Any],
    row_type: type[Any],
    settings: str,
    limit: float,
) -> Mapping[bytes, str]:
    """Compare a table with its base, before it is written.

    Args:
        tables: Tables of the home.
        key: Asset key of the table.
        rows: Its new rows.
        row_type: Type of the rows.
        settings: Digest of the settings of the build; a change of them is no drift.
        limit: Share of rows that may be lost or rejected anew.

    Returns:
        Metadata of its file: the new base.

    Raises:
        DriftError: If it drifted, with both numbers and an example.
    """
    base = base_of(tables, key)
    accepted = _accepted(tables, key)
    if base is None or base.settings != settings or accepted:
        tables.blobs.delete(_mark(tables, key))
        return {_BASE: Base(len(rows), settings, accepted).encode()}
    if problem := _problem(tables, key, rows, row_type, base.rows, limit):
        name = "/".join(key)
        raise DriftError(
            f"{name}: {problem}; the table stays as it was. Mend the source, or accept the change:"
            f" bench tables accept {name}"
        )
    most = len(rows) if row_type is Rejection else max(len(rows), base.rows)
    return {_BASE: Base(most, settings, base.accepted).encode()}


def _problem(
    tables: TableFiles,
    key: Sequence[str],
    rows: Sequence[Any],
    row_type: type[Any],
    before: int,
    limit: float,
) -> str:
    """Describe the drift; "" if there is none."""
    if row_type is Rejection:
        siblings = [base_of(tables, [*key[:-1], name]) for name in _siblings(tables, key)]
        seen = len(rows) + max((base.rows for base in siblings if base), default=0)
        if len(rows) - before <= limit * seen:
            return ""
        reasons = [row.reason for row in rows]
        commonest = max(reasons, key=reasons.count)
        example = next(row for row in rows if row.reason == commonest)
        return (
            f"{len(rows)} rejected rows ({before} before), mostly: {commonest}"
            f" (such as {example.entry})"
        )
    if before - len(rows) <= limit * before:
        return ""
    return f"{len(rows)} rows ({before} before)"


def _siblings(tables: TableFiles, key: Sequence[str]) -> list[str]:
    return [name for name in tables.blobs.folders(tables.below(key[:-1])) if name != key[-1]]


def accept_drift(tables: TableFiles, key: Sequence[str]) -> str:
    """Accept the next build of a table once; returns who did, and the day.

    Raises:
        TableError: If the table was never built.
    """
    if not tables.exists(key):
        raise tables.missing_table_error(key, "")
    who = f"{getuser()} {date.today().isoformat()}"
    tables.blobs.put(_mark(tables, key), who.encode())
    return who


def _accepted(tables: TableFiles, key: Sequence[str]) -> str:
    return (tables.blobs.get(_mark(tables, key)) or b"").decode(errors="replace")


def _mark(tables: TableFiles, key: Sequence[str]) -> str:
    root = tables.root(key[0])
    return "/".join(filter(None, (root, _FOLDER, table_name(key).replace("/", "."))))
