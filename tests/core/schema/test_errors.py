import re

import pytest

from bench_assets.core.schema.errors import UnknownNameError, did_you_mean, nearest

SUITES = ("blink", "codis", "journeybench/mcot", "journeybench/retrieval")


@pytest.mark.parametrize(
    ("name", "nearest_name"),
    [
        pytest.param("codsi", "codis", id="letters exchanged"),
        pytest.param("BLINK", "blink", id="another case"),
        pytest.param("mcot", "journeybench/mcot", id="the last part alone"),
        pytest.param("journeybench/retreival", "journeybench/retrieval", id="a whole path"),
    ],
)
def test_the_nearest_name_is_suggested(name, nearest_name):
    assert nearest(name, SUITES)[0] == nearest_name
    assert did_you_mean(name, SUITES) == f"did you mean {nearest_name!r}?"


@pytest.mark.parametrize("name", ["", " ", "xyzzy", "\n", "x" * 5000])
def test_nothing_is_suggested_for_a_name_that_is_like_none(name):
    assert did_you_mean(name, SUITES) == ""


def test_of_many_names_only_the_nearest_five_are_listed():
    near_names = [f"codis/table_{n}" for n in range(5)]
    names = [*(f"blink/scores_{n}" for n in range(95)), *near_names]
    message = str(UnknownNameError("table", "codis/table_x", names, all_by="bench tables list"))
    assert sorted(re.findall(r"\w+/\w+_\d+", message)) == near_names
    assert message.endswith("`bench tables list` lists all 100")
