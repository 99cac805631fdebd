"""Table expectations, validated here or with Great Expectations.

Names and arguments are those of Great Expectations, whose import takes seconds. Checks that block
the next table are validated here, without it. Missing values satisfy every expectation.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from bench_assets.core.schema.rows import AnswerKind, Edition

_MAX_SHOWN = 5  # unexpected values that a message names


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expectation of a table."""

    type: str  # "expect_column_values_to_be_unique"
    told: Mapping[str, Any] = field(default_factory=dict)  # its arguments
    blocking: bool = False  # whether a failure stops the tables downstream

    @property
    def columns(self) -> list[str]:
        """Columns that it refers to; none for an expectation of the table."""
        names = [
            self.told[name] for name in ("column", "column_A", "column_B") if name in self.told
        ]
        return [*names, *self.told.get("column_list", ())]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationRow:
    """Result of an expectation; a row of the table ``expectations``."""

    table: str  # "codis/predictions", for all models together
    rows: int
    expectation: str  # "expect_column_values_to_be_unique"
    about: str  # the columns, or "the table"
    told: str  # its other arguments: "min_value 0"
    blocking: bool
    passed: bool
    n_unexpected: int
    unexpected: tuple[str, ...]  # the first few values


def _not_null(column: str) -> Expectation:
    return Expectation("expect_column_values_to_not_be_null", {"column": column})


def _unique(*columns: str) -> Expectation:
    if len(columns) == 1:
        return Expectation(
            "expect_column_values_to_be_unique", {"column": columns[0]}, blocking=True
        )
    arguments = {"column_list": list(columns)}
    return Expectation("expect_compound_columns_to_be_unique", arguments, blocking=True)


def _at_least(column: str, least: float, *, blocking: bool = False) -> Expectation:
    arguments = {"column": column, "min_value": least}
    return Expectation("expect_column_values_to_be_between", arguments, blocking)


def _one_of(column: str, *values: str, blocking: bool = False) -> Expectation:
    arguments = {"column": column, "value_set": list(values)}
    return Expectation("expect_column_values_to_be_in_set", arguments, blocking)


def _matches(column: str, regex: str, *, blocking: bool = False) -> Expectation:
    arguments = {"column": column, "regex": regex}
    return Expectation("expect_column_values_to_match_regex", arguments, blocking)


def _single_value(column: str) -> Expectation:
    arguments = {"column": column, "max_value": 1}
    return Expectation("expect_column_unique_value_count_to_be_between", arguments)


def _not_below(more: str, less: str) -> Expectation:
    arguments: dict[str, object] = {"column_A": more, "column_B": less, "or_equal": True}
    arguments["ignore_row_if"] = "either_value_is_missing"
    return Expectation("expect_column_pair_values_a_to_be_greater_than_b", arguments)


_NOT_EMPTY = Expectation("expect_table_row_count_to_be_between", {"min_value": 1})
_SHA256 = "^[0-9a-f]{64}$"
_NO_CONTROLS = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"  # such as the \f of "\frac"

EXPECTATIONS_BY_TABLE: Mapping[str, Sequence[Expectation]] = {
    "source": (
        _NOT_EMPTY,
        _unique("path"),
        _matches("path", r"^[^/\\]", blocking=True),
        _matches("sha256", _SHA256, blocking=True),
        _at_least("n_bytes", 0, blocking=True),
    ),
    "questions": (
        _NOT_EMPTY,
        *(_not_null(name) for name in ("question_id", "task", "edition", "kind", "text")),
        _unique("question_id"),
        _one_of("kind", *get_args(AnswerKind), blocking=True),
        _one_of("edition", *get_args(Edition), blocking=True),
        Expectation(
            "expect_column_value_lengths_to_be_between", {"column": "text", "min_value": 1}
        ),
        *(_matches(name, _NO_CONTROLS) for name in ("text", "context")),
        _at_least("n_answers", 1),
        _single_value("task"),
        _single_value("edition"),
    ),
    "predictions": (
        _NOT_EMPTY,
        _unique("question_id", "model", "sample"),
        _matches("question_id", "^.", blocking=True),
        _matches("model", "^.", blocking=True),
        _at_least("sample", 0, blocking=True),
        _matches("prompt_sha256", f"^$|{_SHA256}"),
        _at_least("prompt_tokens", 0),
        _at_least("completion_tokens", 0),
        _at_least("seconds", 0),
        _single_value("condition"),
    ),
    "metrics": (
        _NOT_EMPTY,
        _unique("model", "condition", "metric", "category"),
        _matches("metric", "^.", blocking=True),
        _at_least("n_scored", 0, blocking=True),
        _at_least("n_unscored", 0, blocking=True),
        _at_least("n_failed", 0, blocking=True),
        _one_of("edition", "", "unknown", *get_args(Edition)),
        _matches("signature", "^.", blocking=True),
        _not_below("value", "low"),
        _not_below("high", "value"),
        _single_value("task"),
    ),
}
"""Expectations by kind of table."""


def columns_of(rows: Sequence[Any], expected: Iterable[Expectation]) -> dict[str, list[Any]]:
    """Columns that expectations refer to: fields of rows, or their lengths."""
    names = dict.fromkeys(name for expectation in expected for name in expectation.columns)
    return {name: _values(rows, name) for name in names}


def problems(rows: Sequence[Any], expected: Iterable[Expectation]) -> list[str]:
    """Messages about failed expectations, each with its first unexpected values."""
    every = list(expected)
    columns = columns_of(rows, every)
    failures = []
    for expectation in every:
        if wrong := unexpected(expectation, columns, len(rows)):
            listed = ", ".join(map(repr, wrong[:_MAX_SHOWN])) + (
                " ..." if len(wrong) > _MAX_SHOWN else ""
            )
            where = ", ".join(expectation.columns) or "the table"
            failures.append(
                f"{expectation.type} of {where}: {listed}{_format_allowed(expectation)}"
            )
    return failures


def _format_allowed(one: Expectation) -> str:
    among = ", ".join(map(str, one.told.get("value_set", ())))
    return f" (expected one of {among})" if among else ""


def validate_table(kind: str, rows: Sequence[Any], table: str = "") -> list[ValidationRow]:
    """Validate the expectations of a kind of table, without Great Expectations."""
    results = []
    for expectation in EXPECTATIONS_BY_TABLE[kind]:
        wrong = unexpected(expectation, columns_of(rows, [expectation]), len(rows))
        arguments = [
            f"{name} {value}"
            for name, value in expectation.told.items()
            if not name.startswith("column")
        ]
        results.append(
            ValidationRow(
                table=table,
                rows=len(rows),
                expectation=expectation.type,
                about=", ".join(expectation.columns) or "the table",
                told="; ".join(arguments),
                blocking=expectation.blocking,
                passed=not wrong,
                n_unexpected=len(wrong),
                unexpected=tuple(str(value) for value in wrong[:_MAX_SHOWN]),
            )
        )
    return results


def unexpected(one: Expectation, columns: Mapping[str, list[Any]], n: int) -> list[Any]:
    """Values that fail an expectation; for one of the whole table, its actual property."""
    arguments, kind = one.told, one.type.removeprefix("expect_")
    values = columns[one.columns[0]] if len(one.columns) == 1 else []
    present = [value for value in values if not _is_null(value)]
    if kind == "table_row_count_to_be_between":
        return [] if n >= arguments["min_value"] else [n]
    if kind == "column_values_to_not_be_null":
        return [value for value in values if _is_null(value)]
    if kind == "column_unique_value_count_to_be_between":
        return [] if len(set(present)) <= arguments["max_value"] else sorted(set(present))
    if kind in ("column_values_to_be_unique", "compound_columns_to_be_unique"):
        keys = present or list(zip(*(columns[name] for name in one.columns), strict=True))
        times = Counter(keys)
        return [key for key in keys if times[key] > 1]
    if kind == "column_pair_values_a_to_be_greater_than_b":
        pairs = zip(columns[arguments["column_A"]], columns[arguments["column_B"]], strict=True)
        return [(a, b) for a, b in pairs if not (_is_null(a) or _is_null(b) or a >= b)]
    return [value for value in present if not _meets_expectation(kind, arguments, value)]


def _meets_expectation(kind: str, told: Mapping[str, Any], value: Any) -> bool:  # noqa: ANN401
    if kind == "column_values_to_be_in_set":
        return value in told["value_set"]
    if kind == "column_values_to_match_regex":
        return re.search(told["regex"], value) is not None
    size = len(value) if kind == "column_value_lengths_to_be_between" else value
    return bool(size >= told["min_value"])


def _is_null(value: object) -> bool:
    return value is None or value != value  # noqa: PLR0124  (NaN)


def _values(rows: Sequence[Any], name: str) -> list[Any]:
    if name == "n_answers":
        return [len(row.answer) for row in rows]
    return [getattr(row, name) for row in rows]
