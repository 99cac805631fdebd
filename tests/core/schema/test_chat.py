from typing import Any

import numpy as np
import pytest

from bench_assets.core.schema.chat import Decoding, Image, Prompt, Response, Turn, validate_response
from tests.cases import read_rows

IMAGE, OTHER = Image("a" * 64), Image("b" * 64)


@pytest.mark.parametrize(
    ("prompt", "other_prompt"),
    [
        pytest.param(Prompt.of("ab", "c"), Prompt.of("a", "bc"), id="where a text is cut"),
        pytest.param(Prompt.of(IMAGE), Prompt.of("a" * 64), id="an image and its digest"),
        pytest.param(Prompt.of(IMAGE), Prompt.of('{"image": "' + "a" * 64 + '"}'), id="its JSON"),
        pytest.param(Prompt.of(IMAGE, OTHER), Prompt.of(OTHER, IMAGE), id="order of images"),
        pytest.param(Prompt.of(IMAGE, "x"), Prompt.of("x", IMAGE), id="order of parts"),
        pytest.param(Prompt.of("x", system="y"), Prompt.of("y", system="x"), id="roles"),
        pytest.param(
            Prompt((Turn("user", ("x", "y")),)),
            Prompt((Turn("user", ("x",)), Turn("user", ("y",)))),
            id="turns",
        ),
        pytest.param(Prompt.of("\ud800"), Prompt.of("\ud801"), id="halves of characters"),
    ],
)
def test_different_prompts_have_different_digests(prompt, other_prompt):
    assert prompt.sha256 != other_prompt.sha256


def test_the_images_of_a_prompt_are_in_reading_order():
    prompt = Prompt((Turn("user", (OTHER, "x")), Turn("user", ("y", IMAGE, OTHER))))
    assert prompt.images == (OTHER, IMAGE, OTHER)


def test_a_blind_prompt_is_the_same_conversation_without_images():
    prompt = Prompt((Turn("system", ("s",)), Turn("user", (IMAGE, "x", OTHER, "y"))))
    blind = Prompt((Turn("system", ("s",)), Turn("user", ("x", "y"))))
    assert prompt.without_images() == blind


def test_a_prompt_has_a_system_turn_only_with_a_system_text():
    assert [turn.role for turn in Prompt.of("x").turns] == ["user"]
    assert [turn.role for turn in Prompt.of("x", system="s").turns] == ["system", "user"]


@pytest.mark.parametrize(
    ("decoding", "short"),
    [
        (Decoding(), "t=0,max=1024"),
        (Decoding(temperature=0.7, top_p=0.95, seed=0), "t=0.7,max=1024,top_p=0.95,seed=0"),
    ],
)
def test_a_decoding_is_written_with_the_settings_that_are_not_default(decoding, short):
    assert str(decoding) == short


SYSTEM, USER, ASSISTANT = Turn("system", ("s",)), Turn("user", ("x",)), Turn("assistant", ("y",))


@pytest.mark.parametrize(
    ("turns", "rounds"),
    [
        pytest.param((USER,), [(USER,)], id="one question"),
        pytest.param((SYSTEM, USER), [(SYSTEM, USER)], id="a system turn goes before"),
        pytest.param((USER, USER), [(USER,), (USER,)], id="each open turn is answered"),
        pytest.param(
            (USER, ASSISTANT, USER), [(USER, ASSISTANT, USER)], id="an answered turn is not asked"
        ),
        pytest.param(
            (USER, USER, ASSISTANT), [(USER,)], id="turns after the last user turn are left out"
        ),
        pytest.param((SYSTEM,), [], id="nothing is asked"),
    ],
)
def test_a_conversation_has_a_round_for_each_user_turn_without_an_answer(turns, rounds):
    assert Prompt(turns).rounds() == rounds


@pytest.mark.parametrize(
    ("tokens", "total"),
    [
        pytest.param((3, 4), 7, id="all known"),
        pytest.param((None, 4), 4, id="one known"),
        pytest.param((None, None), None, id="none known"),
    ],
)
def test_combined_responses_are_the_last_text_with_the_tokens_of_all_rounds(tokens, total):
    responses = [
        Response(text=str(n), prompt_tokens=n, completion_tokens=n, seconds=0.5) for n in tokens
    ]
    combined = Response.combine(responses)
    assert combined.text == str(tokens[-1])
    assert (combined.prompt_tokens, combined.completion_tokens) == (total, total)
    assert combined.seconds == 1.0


@pytest.mark.parametrize(
    ("fields", "no_answer"), read_rows(__file__, "broken_off.jsonl", tuples=True), ids=str
)
def test_no_answer_is_a_message_if_the_answer_was_cut_off_and_else_empty(fields, no_answer):
    assert Response(**fields).no_answer == no_answer


@pytest.mark.parametrize("finish_reason", ["content_filter", "refusal"])
def test_an_empty_response_of_a_content_filter_is_a_refusal(finish_reason):
    refused = Response(text="", finish_reason=finish_reason)
    assert (refused.refusal, refused.no_answer) == ("content filter", "")


@pytest.mark.parametrize(
    "response",
    [
        Response(text="A", finish_reason="stop", prompt_tokens=0, completion_tokens=3, seconds=0.0),
        Response(text="caf\u00e9 \U0001f600\0", image_tokens=(4, 0), note="a"),
        Response(error="down"),
        Response(),
    ],
    ids=["with all numbers", "with any characters", "an error", "empty"],
)
def test_a_valid_response_stays_as_it_is(response: Response) -> None:
    assert validate_response(response) == response


def response_of(**fields: Any) -> Response:
    """A response whose fields may have wrong types."""
    return Response(**fields)


@pytest.mark.parametrize(
    ("response", "error"),
    [
        pytest.param("A", "str where a Response was expected", id="a text"),
        pytest.param(None, "NoneType where a Response was expected", id="nothing"),
        pytest.param(response_of(text=5), "its text is not text but int", id="a number"),
        pytest.param(response_of(text=b"A"), "its text is not text but bytes", id="bytes"),
        pytest.param(
            response_of(text="A\ud83d"), "its text is not valid Unicode", id="half a character"
        ),
        pytest.param(
            response_of(finish_reason={}), "its finish_reason is not text but dict", id="no reason"
        ),
    ],
)
def test_an_invalid_response_is_replaced_by_an_error(response: Any, error: str) -> None:
    validated = validate_response(response)
    assert validated.text == ""
    assert validated.error.startswith(f"not a response: {error}")


@pytest.mark.parametrize(
    ("fields", "kept_fields"),
    [
        pytest.param({"prompt_tokens": "12"}, {}, id="a text for tokens"),
        pytest.param({"prompt_tokens": 2**63}, {}, id="more than a database holds"),
        pytest.param({"completion_tokens": True}, {}, id="true"),
        pytest.param({"completion_tokens": -1}, {}, id="less than nothing"),
        pytest.param({"prompt_tokens": np.int64(7)}, {"prompt_tokens": 7}, id="numpy's number"),
        pytest.param({"text": np.str_("A")}, {"text": "A"}, id="numpy's text"),
        pytest.param({"seconds": float("nan")}, {}, id="no time"),
        pytest.param({"seconds": -1.0}, {}, id="back in time"),
        pytest.param({"seconds": 10**400}, {}, id="longer than a float can hold"),
        pytest.param({"seconds": 2}, {"seconds": 2.0}, id="whole seconds"),
        pytest.param({"image_tokens": [4, 5]}, {"image_tokens": (4, 5)}, id="a list of tokens"),
        pytest.param({"image_tokens": (4, None)}, {}, id="one image without a number"),
    ],
)
def test_values_are_stored_as_plain_types_or_left_out(fields, kept_fields):
    response = validate_response(Response(**fields))
    assert response == Response(**kept_fields)
    assert type(response.text) is str  # no type of numpy
    assert type(response.prompt_tokens) in (int, type(None))


@pytest.mark.parametrize("name", ["served", "finish_reason"])
def test_a_name_is_cut_to_400_characters(name):
    long_response, cut_response = (response_of(**{name: n * "m"}) for n in (401, 400))
    assert validate_response(long_response) == cut_response
