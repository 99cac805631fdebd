"""Verdicts by number, in the forms that judges write them in; more in CogBench's tests."""

import pytest

from bench_assets.core.reading.numbered_verdicts import read_numbered_verdicts
from tests.cases import read_rows

READ = read_rows(__file__, "numbered_verdicts.jsonl")


@pytest.mark.parametrize(("response", "verdicts"), READ)
def test_a_verdict_belongs_to_the_number_before_it(response, verdicts):
    assert read_numbered_verdicts(response, 2) == verdicts
