"""The nearest name: one rule for suites, models, entries and tables."""

import pytest

from bench_assets.core.schema.errors import UnknownNameError, did_you_mean, nearest

SUITES = ("blink", "codis", "journeybench/mcot", "journeybench/retrieval")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        pytest.param("codsi", "codis", id="letters exchanged"),
        pytest.param("BLINK", "blink", id="another case"),
        pytest.param("mcot", "journeybench/mcot", id="the last part alone"),
        pytest.param("journeybench/retreival", "journeybench/retrieval", id="a whole path"),
    ],
)
def test_the_name_that_was_meant_is_found(name, meant):
    assert nearest(name, SUITES)[0] == meant
    assert did_you_mean(name, SUITES) == f"did you mean {meant!r}?"


@pytest.mark.parametrize("name", ["", " ", "xyzzy", "\n", "x" * 5000])
def test_nothing_is_suggested_where_nothing_is_near(name):
    assert did_you_mean(name, SUITES) == ""


def test_where_there_are_many_only_the_nearest_are_listed():
    known = [f"codis/table_{number}" for number in range(268)]
    message = str(UnknownNameError("table", "codis/table_12x", known, all_by="bench tables list"))
    assert message.count("codis/table_") == 6  # what was given, and five
    assert message.endswith("`bench tables list` lists all 268")
