import pytest

from tests.faults.everything import every_fault, short_form
from tests.faults.table import try_fault

SHORT = short_form(every_fault())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault.title) for fault in SHORT])
def test_a_fault_has_the_expected_effect(fault, tmp_path):
    outcome = try_fault(fault, 0, tmp_path)
    if outcome.skip_reason:
        pytest.skip(outcome.skip_reason)
    assert outcome.finding == "", f"{outcome.stack}\nagain: {outcome.command}"
