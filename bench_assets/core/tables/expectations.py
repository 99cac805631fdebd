"""Table expectations, with the names and arguments of Great Expectations.

Its import takes seconds: those that block the next table, which each evaluation of a model checks,
are validated here. Missing values satisfy every one of them.
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
    told: Mapping[str, Any] = field(default_factory=dict)  # its arguments
    blocking: bool = False  # whether a failure stops the tables downstream

    @property
    def columns(self) -> list[str]:
        """Columns that it refers to; none for an expectation of the table."""
        names = [
            self.told[name] for name in ("column", "column_A", "column_B") if name in self.told
        ]
        return [*names, *self.told.get("column_list", ())]


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


_LENGTHS = {"n_answers": "answer", "n_images": "images", "n_options": "options"}
"""Columns with the length of a field of a question."""


def read_expectations(file: Path | None, task: str) -> list[Expectation]:
    """Read the expectations of a task's questions: ``expectations.toml`` beside its suite.

    Raises:
        SettingsError: If it cannot be read; names file and task.
    """
    try:
        tasks = tomllib.loads(file.read_text("utf-8")) if file else {}
        return [Expectation(entry.pop("type"), entry) for entry in tasks.get(task, ())]
    except (OSError, ValueError, AttributeError, LookupError, TypeError) as error:
        raise SettingsError(f"{file}, {task}: {error} (expected tables with a `type`)") from error


def columns_of(rows: Sequence[Any], expected: Iterable[Expectation]) -> dict[str, list[Any]]:
    """Columns that expectations refer to: fields of rows, or their lengths."""
    names = dict.fromkeys(name for expectation in expected for name in expectation.columns)
    return {
        name: [len(getattr(row, _LENGTHS[name])) for row in rows]
        if name in _LENGTHS
        else [getattr(row, name) for row in rows]
        for name in names
    }


def problems(rows: Sequence[Any], kind: str) -> list[str]:
    """Messages about failed blocking expectations, each with its first unexpected values."""
    blocking = [expectation for expectation in EXPECTATIONS_BY_TABLE[kind] if expectation.blocking]
    columns = columns_of(rows, blocking)
    failures = []
    for expectation in blocking:
        values = [*zip(*(columns[name] for name in expectation.columns), strict=True)]
        if wrong := _unexpected(expectation, values):
            listed = ", ".join(map(repr, wrong[:_MAX_SHOWN])) + (
                " ..." if len(wrong) > _MAX_SHOWN else ""
            )
            where = ", ".join(expectation.columns)
            failures.append(
                f"{expectation.type} of {where}: {listed}{_format_allowed(expectation)}"
            )
    return failures


def _format_allowed(one: Expectation) -> str:
    among = ", ".join(map(str, one.told.get("value_set", ())))
    return f" (expected one of {among})" if among else ""


def _unexpected(one: Expectation, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Values that fail an expectation; of several columns, their values together."""
    if one.type == "expect_compound_columns_to_be_unique":
        times = Counter(rows)
        return [row for row in rows if times[row] > 1]
    present = [value for (value,) in rows if value is not None]
    if one.type == "expect_column_values_to_be_unique":
        times = Counter(present)
        return [value for value in present if times[value] > 1]
    return [value for value in present if not _meets_expectation(one, value)]


def _meets_expectation(one: Expectation, value: Any) -> bool:  # noqa: ANN401
    if one.type == "expect_column_values_to_be_in_set":
        return value in one.told["value_set"]
    if one.type == "expect_column_values_to_match_regex":
        return re.search(one.told["regex"], value) is not None
    return bool(value >= one.told["min_value"])
