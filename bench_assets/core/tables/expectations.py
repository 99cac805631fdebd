"""Table expectations, with the names and arguments of Great Expectations.

Great Expectations takes seconds to import, so expectations that block the next table, which each
evaluation of a model checks, are validated here. A missing value satisfies those of one column.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import AnswerKind, Edition

_MAX_SHOWN = 5  # unexpected values that a message names


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expectation of a table."""

    type: str  # "expect_column_values_to_be_unique"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    blocking: bool = False  # whether a failure stops the tables downstream

    @property
    def columns(self) -> list[str]:
        """Columns that it refers to; none for an expectation of the table."""
        keys = ("column", "column_A", "column_B")
        names = [self.arguments[key] for key in keys if key in self.arguments]
        return [*names, *self.arguments.get("column_list", ())]


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
    return Expectation("expect_column_values_to_be_between", arguments, blocking=blocking)


def _one_of(column: str, *values: str, blocking: bool = False) -> Expectation:
    arguments = {"column": column, "value_set": list(values)}
    return Expectation("expect_column_values_to_be_in_set", arguments, blocking=blocking)


def _matches(column: str, regex: str, *, blocking: bool = False) -> Expectation:
    arguments = {"column": column, "regex": regex}
    return Expectation("expect_column_values_to_match_regex", arguments, blocking=blocking)


def _single_value(column: str) -> Expectation:
    arguments = {"column": column, "max_value": 1}
    return Expectation("expect_column_unique_value_count_to_be_between", arguments)


def _not_below(upper: str, lower: str) -> Expectation:
    arguments: dict[str, object] = {"column_A": upper, "column_B": lower, "or_equal": True}
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


_LENGTHS = {"n_answers": "answer", "n_images": "images", "n_options": "options"}
"""Columns with the length of a field of a question."""


def read_expectations(file: Path | None, task: str) -> list[Expectation]:
    """Read the expectations of a task's questions: ``expectations.toml`` beside its suite, if any.

    Raises:
        SettingsError: If it cannot be read; names file and task.
    """
    try:
        tasks = tomllib.loads(file.read_text("utf-8")) if file else {}
        return [Expectation(entry.pop("type"), entry) for entry in tasks.get(task, ())]
    except (OSError, ValueError, AttributeError, LookupError, TypeError) as error:
        raise SettingsError(f"{file}, {task}: {error} (expected tables with a `type`)") from error


def expected_columns(
    rows: Sequence[Any], expectations: Iterable[Expectation]
) -> dict[str, list[Any]]:
    """Columns that expectations refer to: fields of rows, or their lengths."""
    names = dict.fromkeys(name for expectation in expectations for name in expectation.columns)
    return {name: _column_values(rows, name) for name in names}


def _column_values(rows: Sequence[Any], name: str) -> list[Any]:
    if name in _LENGTHS:
        return [len(getattr(row, _LENGTHS[name])) for row in rows]
    return [getattr(row, name) for row in rows]


def blocking_failures(rows: Sequence[Any], kind: str) -> list[str]:
    """Messages about failed blocking expectations, each with its first unexpected values."""
    blocking = [expectation for expectation in EXPECTATIONS_BY_TABLE[kind] if expectation.blocking]
    columns = expected_columns(rows, blocking)
    failures = []
    for expectation in blocking:
        cells = [columns[name] for name in expectation.columns]
        unexpected = _unexpected_values(expectation, list(zip(*cells, strict=True)))
        if unexpected:
            names, shown = ", ".join(expectation.columns), unexpected[:_MAX_SHOWN]
            ellipsis = " ..." if len(unexpected) > _MAX_SHOWN else ""
            values = ", ".join(map(repr, shown)) + ellipsis
            failures.append(
                f"{expectation.type} of {names}: {values}{_format_allowed(expectation)}"
            )
    return failures


def _format_allowed(expectation: Expectation) -> str:
    allowed = ", ".join(map(str, expectation.arguments.get("value_set", ())))
    return f" (expected one of {allowed})" if allowed else ""


def _unexpected_values(expectation: Expectation, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Values that fail an expectation; tuples for an expectation of several columns."""
    if expectation.type == "expect_compound_columns_to_be_unique":
        counts = Counter(rows)
        return [row for row in rows if counts[row] > 1]
    values = [value for (value,) in rows if value is not None]
    if expectation.type == "expect_column_values_to_be_unique":
        counts = Counter(values)
        return [value for value in values if counts[value] > 1]
    return [value for value in values if not _meets_expectation(expectation, value)]


def _meets_expectation(expectation: Expectation, value: Any) -> bool:  # noqa: ANN401
    arguments = expectation.arguments
    if expectation.type == "expect_column_values_to_be_in_set":
        return value in arguments["value_set"]
    if expectation.type == "expect_column_values_to_match_regex":
        return re.search(arguments["regex"], value) is not None
    return bool(value >= arguments["min_value"])
