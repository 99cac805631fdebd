"""Published numbers and claims of papers: ``published.csv`` and ``claims.toml`` beside each suite.

A claim is a sentence of a paper as a testable comparison: a weighted sum of cells of results tables
exceeds a margin, for example human accuracy minus a model's. Claims are tested on the published
numbers and on the results of a home; the tables named ``claims`` hold the results.
"""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import copysign
from pathlib import Path
from typing import Any, Literal, TypeAlias

from bench_assets.core.schema.errors import SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedNumber:
    """A number published in a paper."""

    task: str
    model: str
    condition: str
    metric: str
    category: str
    value: float  # as a share in [0, 1] where the paper prints percent
    printed: str  # digit for digit as printed
    source: str  # paper and table: "CODIS, Table 3 (human evaluation)"
    note: str = ""


_COLUMNS = [field.name for field in fields(PublishedNumber)]


def read_published(file: Path) -> list[PublishedNumber]:
    """Read a table of published numbers: CSV with the fields of ``PublishedNumber`` as columns.

    Raises:
        SourceError: If the file is missing, its columns differ, a cell is missing, a value is not
            a number or a row is duplicated; names file and line.
    """
    rows: dict[tuple[str, ...], PublishedNumber] = {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            if reader.fieldnames != _COLUMNS:
                raise SourceError(f"{file}, line 1: {reader.fieldnames}, expected {_COLUMNS}")
            for cells in reader:
                row = _row(cells, f"{file}, line {reader.line_num}")
                key = row.task, row.model, row.condition, row.metric, row.category, row.source
                if key in rows:
                    raise SourceError(f"{file}, line {reader.line_num}: duplicate row {key}")
                rows[key] = row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{file}: cannot be read as CSV: {error}") from error
    return list(rows.values())


def _row(cells: dict[str, str], place: str) -> PublishedNumber:
    empty = [name for name in _COLUMNS if not cells[name] and name != "note"]
    if empty or None in cells or cells["note"] is None:
        raise SourceError(f"{place}: expected {len(_COLUMNS)} cells, only `note` may be empty")
    try:
        value = float(cells["value"])
    except ValueError as error:
        raise SourceError(f"{place}: value is {cells['value']!r}, expected a number") from error
    texts = {name: text for name, text in cells.items() if name != "value"}
    return PublishedNumber(value=value, **texts)


DataSource: TypeAlias = Literal["published", "measured"]
ClaimVerdict: TypeAlias = Literal["holds", "does not hold", "cannot be told"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell of a results table, for any model."""

    task: str
    metric: str
    category: str = "all"
    condition: str = "main"
    model: str = ""  # a fixed model; "" for the model under test
    source: str = ""  # prefix of the source of its published row: "CODIS, Table 3"
    n: int = 0  # questions, pairs, ... behind the printed number; 0: not printed
    exact: bool = False  # computed, not measured: it has no interval
    table: str = "metrics"  # table of the measured value: the task's, or a study's
    here: "Cell | None" = None  # replaces it when the claim is tested on measured results


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A cell and its weight."""

    weight: float
    cell: Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim of a paper: the weighted sum of the terms exceeds the margin."""

    name: str  # "captions_are_not_enough": small letters, digits and _
    section: str  # where the paper says it: "4.3, Figure 6"
    sentence: str  # what it says, in our words
    terms: tuple[Term, ...]
    margin: float = 0.0
    of: Literal["every model", "models on average"] = "every model"
    models: tuple[str, ...] = ()  # models of the paper that it is about; () for all
    but: tuple[str, ...] = ("Human", "Oracle")  # rows of the paper that are not models
    also_called: tuple[tuple[str, str], ...] = ()  # (name in another table of the paper, name here)
    unprinted: str = ""  # why the paper's own numbers cannot test it: "Figure 6 is a drawing"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimResult:
    """Result of a claim for one model, or for all together."""

    suite: str
    claim: str  # its name: "captions_are_not_enough"
    section: str  # where the paper says it: "4.3, Figure 6"
    sentence: str  # what is claimed, in our words
    on: DataSource  # data it was tested on: the paper's own numbers, or those measured here
    model: str  # model tested; "" for all together, as the paper claims
    verdict: ClaimVerdict
    value: float  # weighted sum minus the margin, in the metric's unit; NaN if unknown
    low: float  # 95 % interval, not corrected for the number of claims
    high: float
    p: float | None = None  # two-sided, corrected for all claims (Holm); None without an interval
    n: int  # fewest questions, or other units, behind one of its numbers; 0 if unknown
    why: str  # the numbers that were compared, and caveats


def make_terms(more: Sequence[Cell], less: Sequence[Cell]) -> tuple[Term, ...]:
    """Build the terms of: the mean of ``more`` exceeds the mean of ``less``."""
    return (
        *(Term(weight=1.0 / len(more), cell=cell) for cell in more),
        *(Term(weight=-1.0 / len(less), cell=cell) for cell in less),
    )


def read_claims(file: Path) -> tuple[Claim, ...]:
    """Read a paper's claims: TOML with a table per claim, and shared cells.

    A claim has the fields of ``Claim``, with the cells of ``more`` and ``less`` in place of terms,
    compared by their means, or by their sums with ``sum = true``. A cell has the fields of
    ``Cell``, or the name of a shared cell, alone or as ``like`` with changes. Top-level entries
    apply to all claims.

    Raises:
        SourceError: If the file cannot be read, or a claim or cell has an unknown field.
    """
    try:
        written = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SourceError(f"{file}: cannot be read as TOML: {error}") from error
    shared, claims = written.pop("cells", {}), written.pop("claims", [])
    found = []
    for number, claim in enumerate(claims, 1):
        try:
            found.append(_claim({**written, **claim}, shared))
        except (KeyError, TypeError, ZeroDivisionError) as error:
            raise SourceError(f"{file}, claim {claim.get('name', number)}: {error}") from error
    return tuple(found)


def _claim(fields: dict[str, Any], shared: Mapping[str, Any]) -> Claim:
    more, less = (
        [_cell(cell, shared) for cell in fields.pop(side, ())] for side in ("more", "less")
    )
    terms = make_terms(more, less)
    if fields.pop("sum", False):
        terms = tuple(replace(term, weight=copysign(1.0, term.weight)) for term in terms)
    return Claim(terms=terms, **{name: _freeze(value) for name, value in fields.items()})


def _cell(written: str | dict[str, Any], shared: Mapping[str, Any]) -> Cell:
    own: dict[str, Any] = {"like": written} if isinstance(written, str) else dict(written)
    cell = {**shared[own.pop("like")], **own} if "like" in own else own
    if "here" in cell:
        cell["here"] = _cell(cell["here"], shared)
    return Cell(**cell)


def _freeze(value: Any) -> Any:  # noqa: ANN401
    return tuple(map(_freeze, value)) if isinstance(value, list) else value
