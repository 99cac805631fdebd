"""The table of support is that of the installed transformers, and says what users need to know."""

import re
from importlib.metadata import version

import pytest

from tests.families.support import (
    ALONE,
    CANNOT,
    RUNS,
    UNTRIED,
    VISION,
    architectures,
    read_table,
    support_of,
)

_LEAST = 50  # architectures that run
_LONGEST = 300  # characters of a sentence


def test_the_table_has_every_architecture_of_the_installed_version() -> None:
    table = read_table()
    assert list(table) == architectures(), "run make families"
    assert {row.version for row in table.values()} == {version("transformers")}


def test_most_architectures_run_and_the_others_say_why_in_one_sentence() -> None:
    table = read_table().values()
    assert {row.support for row in table} <= {RUNS, VISION, ALONE, CANNOT, UNTRIED}
    assert sum(row.support in {RUNS, VISION, ALONE} for row in table) >= _LEAST
    silent = [row for row in table if row.support in {CANNOT, UNTRIED} and not row.why]
    obscure = [row for row in table if re.match(r"\w+Error\b|.*Traceback|'", row.why)]
    long = [row for row in table if len(row.why) > _LONGEST]
    assert (silent, obscure, long) == ([], [], [])


@pytest.mark.parametrize("architecture", ["exaone4_5", "git", "pix2struct"])
def test_the_table_says_what_is_found(architecture: str) -> None:
    assert support_of(architecture) == read_table()[architecture]
