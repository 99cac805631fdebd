"""JSON of responses: lenient in its syntax, never in what it says."""

import json

import pytest

from bench_assets.core.reading.json_values import decode_json, read_json

TRUE = {"text": "it's", "right": True}


@pytest.mark.parametrize(
    ("response", "value"),
    [
        pytest.param('{"text": "it\'s", "right": true}', TRUE, id="JSON"),
        pytest.param('{"text": "it\'s", "right": True,}', TRUE, id="a comma too many"),
        pytest.param("{'text': 'it\\'s', 'right': True}", TRUE, id="single quotes"),
        pytest.param('Sure:\n```json\n{"right": true}\n```\nDone.', {"right": True}, id="prose"),
        pytest.param("[true]", [True], id="a list"),
        pytest.param('{"text": "a } b", "c": 1}', {"text": "a } b", "c": 1}, id="a brace"),
        pytest.param('{"text": "true"}', {"text": "true"}, id="a word of JSON in a string"),
        pytest.param('{"text": "a\nb"}', {"text": "a\nb"}, id="a line end in a string"),
        pytest.param('<think>{"c": 1}</think>{"c": 0}', {"c": 0}, id="reasoning"),
        pytest.param('{"right": true} {"right": false}', None, id="two objects"),
        pytest.param('{"right": true, "right": false}', None, id="a duplicate name"),
        pytest.param('{"right": true', None, id="truncated"),
        pytest.param('{"right": true or false}', None, id="no JSON"),
        pytest.param("right", None, id="a word"),
        pytest.param("", None, id="nothing"),
        pytest.param("{" * 5000 + "}" * 5000, None, id="nested too deeply"),
        pytest.param('{"a": ' + "1" * 5000 + "}", None, id="a number of too many digits"),
    ],
)
def test_the_one_value_of_a_response_is_read(response, value):
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
def test_a_text_that_is_json_is_decoded(text, value):
    assert decode_json(text) == value


@pytest.mark.parametrize(("n", "is_read"), [(50_000, True), (50_001, False)])
def test_json_has_fifty_thousand_characters_at_most(n, is_read):
    text = json.dumps({"a": "b" * (n - len('{"a": ""}'))})
    assert (read_json(text) is not None) == (decode_json(text) is not None) == is_read
