"""The short form of the suite of faults; ``make faults`` tries everything, at length."""

import pytest

from tests.faults.everything import every_fault, short_form
from tests.faults.table import tried

SHORT = short_form(every_fault())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault.title) for fault in SHORT])
def test_what_must_be_seen_is_seen(fault, tmp_path):
    outcome = tried(fault, 0, tmp_path)
    if outcome.skipped:
        pytest.skip(outcome.skipped)
    assert not outcome.found, f"{outcome.stack}\n{outcome.found}\nagain: {outcome.again}"
