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

TABLE = read_table()
_MIN_RUNNING = 50  # architectures
_MAX_REASON = 300  # characters


def test_the_table_has_every_architecture_of_the_installed_transformers() -> None:
    assert list(TABLE) == architectures(), "run make families"


def test_every_row_is_of_the_installed_transformers() -> None:
    assert {row.version for row in TABLE.values()} == {version("transformers")}


def test_every_row_has_a_level_of_support() -> None:
    assert {row.support for row in TABLE.values()} <= {RUNS, VISION, ALONE, CANNOT, UNTRIED}


def test_most_architectures_run() -> None:
    running = [row for row in TABLE.values() if row.support in {RUNS, VISION, ALONE}]
    assert len(running) >= _MIN_RUNNING


def test_an_architecture_that_does_not_run_has_a_reason() -> None:
    not_running = [row for row in TABLE.values() if row.support in {CANNOT, UNTRIED}]
    assert [row.architecture for row in not_running if not row.why] == []


def test_a_reason_is_no_name_of_an_exception() -> None:
    obscure = [row for row in TABLE.values() if re.match(r"\w+Error\b|.*Traceback|'", row.why)]
    assert obscure == []


def test_a_reason_is_short() -> None:
    assert [row for row in TABLE.values() if len(row.why) > _MAX_REASON] == []


@pytest.mark.parametrize("architecture", ["exaone4_5", "git", "pix2struct"])
def test_a_new_trial_gives_the_row_of_the_table(architecture: str) -> None:
    assert support_of(architecture) == TABLE[architecture]
