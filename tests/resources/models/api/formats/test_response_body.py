"""A thought that a server keeps apart is taken off again, whatever it speaks of: just it."""

import re
import time

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_assets.core.reading.reasoning import ANSWERS, THOUGHTS, Tags, split_reasoning
from bench_assets.core.schema.chat import Response
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.formats.anthropic import Anthropic
from bench_resources.models.api.formats.base import ApiFormat
from bench_resources.models.api.formats.gemini import Gemini
from bench_resources.models.api.formats.openai import OpenAI
from bench_resources.models.api.formats.response_body import decode_response, prepend_reasoning
from tests.resources.models.api.asking import read_image
from tests.resources.models.api.formats.test_responses import candidate, message

MARKS = sorted({mark for form in (*THOUGHTS, *ANSWERS) for mark in (form.opening, form.closing)})
OWN = pytest.mark.parametrize(
    "tags",
    [
        pytest.param(None, id="the usual tags"),
        pytest.param(("<reflect>", "</reflect>"), id="tags of its own"),
        pytest.param(("{", "}"), id="tags of one character"),
        pytest.param(("|||", "|||"), id="one mark for both"),
        pytest.param(("[[", "]]"), id="tags that end as they begin"),
        pytest.param(("", "</reflect>"), id="a tag that only closes"),
    ],
)
AWKWARD = ("{0}", "A {0} then B", "{0}{0}{0}", "see {0}\nThe answer is (A)\nNo, wait.", "x {0}  ")


def without_blanks(text: str) -> str:
    return re.sub(r"\s+|U\+007[BD]|[{}]", "", text)


@OWN
@pytest.mark.parametrize("mark", [*MARKS, "<reflect>", "</reflect>", "{", "}", "|||", "||||", "]"])
def test_a_thought_that_speaks_of_marks_is_taken_off(mark: str, tags: Tags | None) -> None:
    for thought in AWKWARD:
        told = thought.format(mark)
        said = split_reasoning(prepend_reasoning(told, "B", tags), tags)
        assert (said.answer, said.finished) == ("B", True)
        assert without_blanks(said.thought) == without_blanks(told), "nothing of it is lost"


@OWN
@pytest.mark.parametrize("mark", [*MARKS, "<answer>A</answer>", "<reflect>", "</reflect>", "}"])
def test_a_thought_that_was_cut_off_is_no_answer(mark: str, tags: Tags | None) -> None:
    for thought in AWKWARD:
        told = thought.format(mark)
        text = prepend_reasoning(told, "", tags, cut_off=True)
        response = Response(text=text, finish_reason="length", thinking_tags=tags)
        assert response.said.answer == ""
        assert response.no_answer
        assert without_blanks(response.said.thought) == without_blanks(told)


@settings(max_examples=200)
@given(st.lists(st.sampled_from([*MARKS, *"<>/think[] \nA", "</", "k>"])).map("".join))
def test_any_thought_is_taken_off(thought: str) -> None:
    assert split_reasoning(prepend_reasoning(thought or "A", "B")).answer == "B"


def test_what_the_thought_says_otherwise_stays_as_it_is() -> None:
    thought = "Mind </Think>, [THINK], <answer>A</answer> and analysis < /think>."
    assert prepend_reasoning(thought, "B") == f"<think>{thought}</think>B"


@pytest.mark.parametrize(
    ("form", "body"),
    [
        pytest.param(
            OpenAI,
            {
                "choices": [
                    {
                        "message": {"content": "B", "reasoning_content": "</r> or </think>: A."},
                        "finish_reason": "stop",
                    }
                ]
            },
            id="OpenAI",
        ),
        pytest.param(
            Anthropic,
            message(
                "end_turn",
                {"type": "thinking", "thinking": "</r> or </think>: A."},
                {"type": "text", "text": "B"},
            ),
            id="Anthropic",
        ),
        pytest.param(
            Gemini,
            candidate("STOP", {"text": "</r> or </think>: A.", "thought": True}, {"text": "B"}),
            id="Gemini",
        ),
    ],
)
@pytest.mark.parametrize("tags", [None, ("<r>", "</r>")], ids=["the usual tags", "its own"])
def test_every_api_keeps_a_thought_out_of_the_answer(
    form: type[OpenAI] | type[Anthropic] | type[Gemini], body: object, tags: Tags | None
) -> None:
    spec = ServerSpec(kind="server", base_url="http://s/v1", model="m", thinking_tags=tags)
    made: ApiFormat = form(spec, read_image)
    found = decode_response(made, orjson.dumps(body), 0.5, {})
    assert isinstance(found, Response)
    assert split_reasoning(found.text, tags).answer == "B"


@pytest.mark.parametrize("part", ["<think>", "</think>", "<", "</answer>", "<think></think>"])
def test_long_thoughts_take_time_in_proportion(part: str) -> None:
    thought = part * (100_000 // len(part))
    begun = time.process_time()
    split_reasoning(prepend_reasoning(thought, "B"))
    split_reasoning(prepend_reasoning(thought, "", cut_off=True))
    assert time.process_time() - begun < 2.0
