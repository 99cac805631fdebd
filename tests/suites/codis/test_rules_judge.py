"""What the rules judge, and what they leave unread (CODIS)."""

import pytest

from bench_assets.core.reading.readings import UNREAD
from bench_assets.suites.codis import scoring
from tests.fakes.rows import answered

UP, YES = ("Up.", "Down."), ("Yes.", "No.")
FIT = ("Appropriate.", "Not appropriate.")
EDGE = ("Edge A.", "Edge B.")
CUBES = ("Seven.", "Six.")

# The response, the two possible answers, and which of them is read; None for neither.
RESPONSES = [
    pytest.param("Up.", UP, 0, id="the answer itself"),
    pytest.param("down", UP, 1, id="case and full stop do not count"),
    pytest.param("**Up**", UP, 0, id="bold"),
    pytest.param("The sky is below, so up it goes.\n\nDown.", UP, 1, id="the last line"),
    pytest.param("Thinking.\n**Answer:** Down", UP, 1, id="a label in bold"),
    pytest.param("It is not down, therefore the answer is up.", UP, 0, id="a statement"),
    pytest.param("Up.\nThe greenery lies below the viewer.", UP, 0, id="explained afterwards"),
    pytest.param("Up.\nDown.", UP, 1, id="the last of two lines"),
    pytest.param("He is walking up the stairs.", UP, 0, id="the only one that is named"),
    pytest.param("He is walking upstairs.", UP, None, id="another word for it"),
    pytest.param("Up or down.", UP, None, id="both"),
    pytest.param("Not up.", UP, None, id="denied"),
    pytest.param("A", UP, None, id="a letter"),
    pytest.param("", UP, None, id="nothing"),
    pytest.param("no", YES, 1, id="no"),
    pytest.param("Yes, you can turn.", YES, 0, id="yes with a reason"),
    pytest.param("Yes and no.", YES, None, id="yes and no"),
    pytest.param("I see a staircase.", YES, None, id="neither"),
    pytest.param("Appropriate.", FIT, 0, id="the answer inside the longer one"),
    pytest.param("It is not appropriate.", FIT, None, id="the longer one, denied"),
    pytest.param("Not appropriate.", FIT, 1, id="the longer one"),
    pytest.param("Edge B", EDGE, 1, id="a letter that is a name"),
    pytest.param("7", CUBES, 0, id="a digit"),
]


@pytest.mark.parametrize(("response", "options", "read"), RESPONSES)
def test_rules_judge_one_of_the_two_answers(response, options, read):
    for gold, answer in enumerate(options):
        pair = answered(response, answer=(answer,), options=options)
        (judgement,) = scoring.judge_by_rules([pair])
        assert judgement.verdict is (gold == read)
        expected = UNREAD if read is None else f"gives {options[read]!r}: "
        assert judgement.response.startswith(expected)
