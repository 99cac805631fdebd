import pytest

from bench_assets.core.reading.numbered_verdicts import read_numbered_verdicts
from tests.cases import read_rows

RESPONSES = read_rows(__file__, "numbered_verdicts.jsonl")


@pytest.mark.parametrize(("response", "verdicts"), RESPONSES)
def test_a_verdict_belongs_to_the_number_before_it(response, verdicts):
    assert read_numbered_verdicts(response, 2) == verdicts
