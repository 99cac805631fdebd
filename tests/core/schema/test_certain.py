"""The last gate before a response is stored or scored, whoever gave it."""

from typing import Any

import numpy as np
import pytest

from bench_assets.core.schema.chat import Response, certain, readable, token_count


@pytest.mark.parametrize(
    "response",
    [
        Response(text="A", finish_reason="stop", prompt_tokens=0, completion_tokens=3, seconds=0.0),
        Response(text="caf\u00e9 \U0001f600\0", image_tokens=(4, 0), note="a"),
        Response(error="down"),
        Response(),
    ],
    ids=["with all its numbers", "with any signs", "an error", "empty"],
)
def test_a_response_stays_what_it_is(response: Response) -> None:
    assert certain(response) == response


@pytest.mark.parametrize(
    ("said", "error"),
    [
        pytest.param("A", "str where a Response was expected", id="a text"),
        pytest.param(None, "NoneType where a Response was expected", id="nothing"),
        pytest.param({"text": 5}, "its text is not text but int", id="a number"),
        pytest.param({"text": None}, "its text is not text but NoneType", id="null"),
        pytest.param({"text": b"A"}, "its text is not text but bytes", id="bytes"),
        pytest.param({"text": ["A"]}, "its text is not text but list", id="a list"),
        pytest.param({"text": "A\ud83d"}, "its text is not valid Unicode", id="half a character"),
        pytest.param(
            {"finish_reason": {}}, "its finish_reason is not text but dict", id="no reason"
        ),
        pytest.param({"note": "\udcff"}, "its note is not valid Unicode", id="half in the note"),
    ],
)
def test_what_is_none_is_an_error_that_says_why(said: Any, error: str) -> None:
    found = certain(Response(**said) if isinstance(said, dict) else said)
    assert found.text == ""
    assert found.error.startswith(f"not a response: {error}")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param({"error": None}, {}, id="null for an error"),
        pytest.param({"prompt_tokens": "12"}, {}, id="a text for tokens"),
        pytest.param({"prompt_tokens": 2**63}, {}, id="more than a database holds"),
        pytest.param({"completion_tokens": float(2**70)}, {}, id="a float of any size"),
        pytest.param({"completion_tokens": True}, {}, id="true"),
        pytest.param({"completion_tokens": -1}, {}, id="less than nothing"),
        pytest.param({"prompt_tokens": np.int64(7)}, {"prompt_tokens": 7}, id="numpy's number"),
        pytest.param({"text": np.str_("A")}, {"text": "A"}, id="numpy's text"),
        pytest.param({"served": 2**20 * "m"}, {"served": 400 * "m"}, id="a mebibyte for a name"),
        pytest.param(
            {"finish_reason": 2**20 * "m"}, {"finish_reason": 400 * "m"}, id="a mebibyte for why"
        ),
        pytest.param({"seconds": float("nan")}, {}, id="no time"),
        pytest.param({"seconds": float("inf")}, {}, id="for ever"),
        pytest.param({"seconds": -1.0}, {}, id="back in time"),
        pytest.param({"seconds": 10**400}, {}, id="longer than a float can say"),
        pytest.param({"seconds": "1"}, {}, id="a text for seconds"),
        pytest.param({"seconds": 2}, {"seconds": 2.0}, id="whole seconds"),
        pytest.param({"image_tokens": [4, 5]}, {"image_tokens": (4, 5)}, id="a list of tokens"),
        pytest.param({"image_tokens": (4, None)}, {}, id="images of which one is not told"),
        pytest.param({"image_tokens": "45"}, {}, id="a text for tokens of images"),
    ],
)
def test_what_cannot_be_counted_is_left_out(given: dict[str, Any], kept: dict[str, Any]) -> None:
    found = certain(Response(**given))
    assert found == Response(**kept)
    assert [type(value) for value in (found.text, found.prompt_tokens)] == [
        str,
        int if "prompt_tokens" in kept else type(None),
    ]


def test_half_a_character_in_an_error_is_written_as_json_does() -> None:
    assert certain(Response(error="no \ud83d")).error == "no \\ud83d"
    assert readable("\u00e9\udcff") == "\u00e9\\udcff"


def test_the_most_tokens_that_are_believed() -> None:
    assert (token_count(10**9), token_count(10**9 + 1)) == (10**9, None)


def test_half_a_second_of_another_type_is_half_a_second() -> None:
    found = certain(Response(text="A", seconds=np.float32(0.5)))  # type: ignore[arg-type]
    assert (found.seconds, type(found.seconds)) == (0.5, float)
