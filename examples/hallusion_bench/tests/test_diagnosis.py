"""The decision tree of section 4.3.4, every branch of the authors' utils.py."""

import pytest

from hallusion_bench.diagnosis import Case, diagnose

LH, VI, MIXED = "language hallucination", "visual illusion", "mixed"
RIGHT, WRONG, UNCLEAR = "correct", "incorrect", "unclear"
EITHER = (True, False, None)  # whether the responses say the same does not matter


@pytest.mark.parametrize(
    ("category", "visual_input", "original", "said", "same", "failure"),
    [
        pytest.param("VD", "1", None, RIGHT, EITHER, None, id="VD original, right"),
        pytest.param("VD", "1", None, WRONG, EITHER, VI, id="VD original, wrong"),
        pytest.param("VD", "1", None, UNCLEAR, EITHER, VI, id="VD original, unclear"),
        pytest.param("VD", "2", WRONG, RIGHT, EITHER, None, id="VD edited, right"),
        pytest.param("VD", "2", RIGHT, WRONG, (True,), MIXED, id="VD: the edit is not seen"),
        pytest.param("VD", "2", RIGHT, WRONG, (False,), VI, id="VD: the edit is misread"),
        pytest.param("VD", "2", RIGHT, WRONG, (None,), None, id="VD: nobody compared"),
        pytest.param("VD", "2", RIGHT, UNCLEAR, EITHER, VI, id="VD edited, unclear"),
        pytest.param("VD", "2", WRONG, WRONG, EITHER, VI, id="VD, both wrong"),
        pytest.param("VD", "2", UNCLEAR, UNCLEAR, EITHER, VI, id="VD, both unclear"),
        pytest.param("VS", "0", None, WRONG, EITHER, LH, id="VS without a figure, wrong"),
        pytest.param("VS", "0", None, UNCLEAR, EITHER, None, id="VS, not knowing is right"),
        pytest.param("VS", "1", WRONG, RIGHT, EITHER, None, id="VS: the figure teaches it"),
        pytest.param("VS", "1", WRONG, WRONG, (True,), LH, id="VS original, wrong as before"),
        pytest.param("VS", "2", WRONG, WRONG, (True,), LH, id="VS edited, wrong as before"),
        pytest.param("VS", "1", WRONG, WRONG, (False,), MIXED, id="VS, wrong in another way"),
        pytest.param("VS", "1", WRONG, WRONG, (None,), None, id="VS, wrong: nobody compared"),
        pytest.param("VS", "2", WRONG, UNCLEAR, EITHER, MIXED, id="VS, wrong, then unclear"),
        pytest.param("VS", "1", UNCLEAR, WRONG, EITHER, VI, id="VS, unclear, then wrong"),
        pytest.param("VS", "2", UNCLEAR, UNCLEAR, EITHER, VI, id="VS, unclear twice"),
        pytest.param("VS", "1", RIGHT, UNCLEAR, EITHER, VI, id="VS, known, then unclear"),
        pytest.param("VS", "1", RIGHT, WRONG, EITHER, VI, id="VS, known, original misread"),
        pytest.param("VS", "2", RIGHT, WRONG, (True,), LH, id="VS: the edit is not looked at"),
        pytest.param("VS", "2", RIGHT, WRONG, (False,), VI, id="VS: the edit is misread"),
        pytest.param("VS", "2", RIGHT, WRONG, (None,), None, id="VS edited: nobody compared"),
    ],
)
def test_a_failure_is_of_one_type(category, visual_input, original, said, same, failure):
    cases = [Case(category, visual_input, said, original, one) for one in same]
    assert [diagnose(case) for case in cases] == [failure] * len(same)
