import pytest

from bench_assets.core.reading.blanks import read_blanks
from tests.cases import read_rows

RESPONSES = read_rows(__file__, "blanks.jsonl", tuples=True)  # n, response, texts
RESPONSES_OF_ANOTHER_NUMBER = [
    (1, ""),
    (2, "氢"),
    (2, "氢、氧、氮"),
    (2, "长江发源于青藏高原的巴颜喀拉山，注入东海。"),
    (2, "很抱歉，我无法从提供的图片中清楚地识别出该物质的结构，因此无法给出答案。"),
]


@pytest.mark.parametrize(("n", "response", "texts"), RESPONSES)
def test_a_response_fills_the_blanks(n, response, texts):
    reading = read_blanks(response, n)
    assert reading is not None
    assert tuple(reading.value.split("\n")) == texts
    start, end = reading.evidence
    assert 0 <= start < end <= len(response)


@pytest.mark.parametrize(("n", "response"), RESPONSES_OF_ANOTHER_NUMBER)
def test_another_number_of_texts_fills_no_blanks(n, response):
    assert read_blanks(response, n) is None
