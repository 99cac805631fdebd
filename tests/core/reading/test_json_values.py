import json

import pytest

from bench_assets.core.reading.json_values import decode_json, read_json
from tests.cases import read_cases


@pytest.mark.parametrize(("response", "value"), read_cases(__file__, "json_values.jsonl"))
def test_the_only_json_value_of_a_response_is_read(response, value):
    assert read_json(response) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("```json\n[1, 0,]\n```", [1, 0]),
        ("```\n{'1': 1}\n```", {"1": 1}),
        ("[" * 100_000, None),
        ("1. [1]", None),
        ("My verdicts:\n```json\n[1]\n```", None),
    ],
)
def test_a_text_is_decoded_if_it_is_json_as_a_whole(text, value):
    assert decode_json(text) == value


@pytest.mark.parametrize(("n", "is_read"), [(50_000, True), (50_001, False)])
def test_json_has_fifty_thousand_characters_at_most(n, is_read):
    text = json.dumps({"a": "b" * (n - len('{"a": ""}'))})
    assert (read_json(text) is not None) == is_read
    assert (decode_json(text) is not None) == is_read
