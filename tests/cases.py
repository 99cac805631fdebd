"""Tables of test cases in JSON Lines files beside the tests."""

import json
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def read_rows(test_file: str, name: str, *, tuples: bool = False) -> list[Any]:
    """Rows of a table; an array is a tuple, arrays within it only if ``tuples``."""
    lines = Path(test_file).with_name(name).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    if tuples:
        return [_as_tuples(row) for row in rows]
    return [tuple(row) if isinstance(row, list) else row for row in rows]


def read_cases(test_file: str, name: str, *, tuples: bool = False) -> list[ParameterSet]:
    """Rows of a table whose first cell is the id of the case."""
    rows = read_rows(test_file, name, tuples=tuples)
    return [pytest.param(*arguments, id=case_id) for case_id, *arguments in rows]


def _as_tuples(value: object) -> object:
    if isinstance(value, dict):
        return {name: _as_tuples(part) for name, part in value.items()}
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
