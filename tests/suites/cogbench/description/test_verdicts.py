import pytest

from bench_assets.core.reading.numbered_verdicts import read_numbered_verdicts
from bench_assets.suites.cogbench.description.scoring import read_by_position

FORTY = "  ".join(f"{n}. [{n % 2}]" for n in range(1, 41))
FORTY_READ = [n % 2 == 1 for n in range(1, 41)]


@pytest.mark.parametrize(
    ("response", "n", "ours", "official"),
    [
        pytest.param("1. [1]  2. [0]", 2, [True, False], [True, False], id="as asked for"),
        pytest.param("1. [ ] 2. [1]", 2, [None, True], [True, None], id="a blank shifts theirs"),
        pytest.param("1.[1] 2.[0]", 2, [True, False], [None, None], id="no blank before bracket"),
        pytest.param("1.[1]", 1, [True], [None], id="one point, no blank before bracket"),
        pytest.param(
            "3. [1] 1. [0] 2. [1]", 3, [False, True, True], [True, False, True], id="order"
        ),
        pytest.param("1", 1, [True], [True], id="a lone digit"),
        pytest.param("[0]", 1, [False], [False], id="a lone bracket"),
        pytest.param("[1] [0]", 2, [True, False], [True, None], id="as many brackets as points"),
        pytest.param("[1]", 2, [None, None], [True, None], id="fewer brackets than points"),
        pytest.param("1. **[1]**\n2. **[0]**", 2, [True, False], [None, None], id="bold"),
        pytest.param("1. 1\n2. 0", 2, [True, False], [None, None], id="without brackets"),
        pytest.param("1. 1 2. 0", 2, [True, False], [None, None], id="without, in one line"),
        pytest.param("1. yes\n2. no", 2, [True, False], [None, None], id="words"),
        pytest.param(
            "1. Two boys, 3. [1]\n2. A girl. [0]",
            2,
            [True, False],
            [True, None],
            id="the key point before its verdict",
        ),
        pytest.param(
            "1. There are 3. [1] 2. [0]", 3, [None] * 3, [True, False, None], id="unclear"
        ),
        pytest.param("[YES]", 1, [True], [None], id="a word in brackets"),
        pytest.param("[NO]\n[YES]", 2, [False, True], [None, None], id="a word a line"),
        pytest.param("[maybe]", 1, [None], [None], id="another word"),
        pytest.param('{"1": 1, "2": "no"}', 2, [True, False], [None, None], id="a JSON object"),
        pytest.param(
            '```json\n{"KEY POINT 1": [1]}\n```', 1, [True], [None], id="a fenced JSON object"
        ),
        pytest.param("[1, 0]", 2, [True, False], [None, None], id="a JSON list"),
        pytest.param("[1, 0]", 3, [None] * 3, [None] * 3, id="a JSON list that is too short"),
        pytest.param(
            '{"results": [{"id": 2, "score": 1}, {"id": 1, "score": 0}]}',
            2,
            [None, None],
            [None, None],
            id="JSON rows with numbers, which were not asked for",
        ),
        pytest.param("1. 10", 1, [None], [None], id="a number that is no verdict"),
        pytest.param("1. [1] 2. [ ]", 2, [True, None], [True, None], id="a blank at the end"),
        pytest.param("1. [1] 2. [0] 3. [1]", 2, [True, False], [True, False], id="one too many"),
        pytest.param("1. [1]", 2, [True, None], [True, None], id="one too few"),
        pytest.param("1. [1] 1. [0]", 1, [None], [True], id="a number with two verdicts"),
        pytest.param("1. [1] 1. [1]", 1, [True], [True], id="a number said twice alike"),
        pytest.param("1. [2]", 1, [None], [None], id="neither 0 nor 1"),
        pytest.param("1. [1] 2. [0", 2, [None, None], [True, None], id="cut off"),
        pytest.param("1. [1]? 2. [0]", 2, [None, None], [True, False], id="asked"),
        pytest.param("1 = 1 = 1", 1, [None], [None], id="sums"),
        pytest.param("1. 1/2", 1, [None], [None], id="a half"),
        pytest.param(
            "I cannot determine it: 1. [1]", 1, [True], [True], id="after a sentence"
        ),
        pytest.param(
            "the following format (number + square brackets):\n1. [1]  2. [0]",
            2,
            [True, False],
            [True, False],
            id="after the form that is asked for",
        ),
        pytest.param("{'1': 1, '2': 0,}", 2, [True, False], [None, None], id="nearly JSON"),
        pytest.param('Sure: {"1": 1}', 1, [True], [None], id="prose before JSON"),
        pytest.param('{"1": 1} {"1": 0}', 1, [None], [None], id="two objects that differ"),
        pytest.param("[" * 20_000, 1, [None], [None], id="brackets"),
        pytest.param("1" * 20_000, 1, [None], [None], id="digits"),
        pytest.param("1" * 20_000 + ". [1]", 1, [None], [True], id="a number of many digits"),
        pytest.param("", 2, [None, None], [None, None], id="an empty response"),
        pytest.param("I cannot say.", 1, [None], [None], id="a refusal"),
        pytest.param(FORTY, 40, FORTY_READ, FORTY_READ, id="forty key points"),
        pytest.param(
            "<think>1. [0]</think>1. [1]", 1, [True], [False], id="thoughts count for them only"
        ),
    ],
)
def test_a_judges_response_is_read_by_number_and_officially_by_position(
    response, n, ours, official
):
    assert read_numbered_verdicts(response, n) == ours
    assert read_by_position(response, n) == official
