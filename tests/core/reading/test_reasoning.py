from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_assets.core.reading.reasoning import (
    ANSWERS,
    THOUGHTS,
    ReasoningSplit,
    find_opening_tag,
    split_reasoning,
    strip_reasoning,
)
from tests.cases import read_cases

FORMS = [pytest.param(form, id=form.opening) for form in THOUGHTS]
PLAIN = st.text("ab ,.\n\"'`()[é思\ud800", max_size=20)  # no tag can be made of these


@pytest.mark.parametrize(("response", "thought", "answer"), read_cases(__file__, "thoughts.jsonl"))
def test_thoughts_and_the_marks_of_answers_are_split_off(response, thought, answer):
    assert split_reasoning(response) == ReasoningSplit(thought, answer, finished=True)


@pytest.mark.parametrize("response", read_cases(__file__, "no_thoughts.jsonl"))
def test_a_response_that_opens_with_no_thought_stays_as_it_is(response):
    assert split_reasoning(response) == ReasoningSplit("", response, finished=True)


@pytest.mark.parametrize(
    ("response", "thought"),
    [
        pytest.param("<think>up, I gu", "up, I gu", id="in the middle of a word"),
        pytest.param("<think>", "", id="at its beginning"),
        pytest.param("<think>a</think><think>b", "a\n\nb", id="the second of two"),
        pytest.param("<think></think><think>b", "b", id="after an empty one"),
        pytest.param("<think>I write <answer>A</answer> and", "I write <answer>A</answer> and",
                     id="after a mark within the thought"),
        pytest.param("<|channel|>analysis<|message|>up", "up", id="a channel"),
    ],
)  # fmt: skip
def test_a_thought_that_never_ends_leaves_no_answer(response, thought):
    assert split_reasoning(response) == ReasoningSplit(thought, "", finished=False)
    assert strip_reasoning(response) == ""


@pytest.mark.parametrize(
    ("response", "parts"),
    [
        pytest.param("{{hm}} Up.", ReasoningSplit("hm", "Up."), id="opened and closed"),
        pytest.param("hm}} Up.", ReasoningSplit("hm", "Up."), id="opened by the chat template"),
        pytest.param("{{hm", ReasoningSplit("hm", "", finished=False), id="cut off"),
        pytest.param(
            "<think>hm</think>",
            ReasoningSplit("", "<think>hm</think>"),
            id="no other tags are known then",
        ),
    ],
)
def test_a_model_s_own_tags_are_used_instead_of_the_table(response, parts):
    assert split_reasoning(response, ("{{", "}}")) == parts


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20)
@given(thought=PLAIN, answer=PLAIN)
def test_every_known_form_is_split(form, thought, answer):
    response = form.opening + thought + form.closing + answer
    assert split_reasoning(response) == ReasoningSplit(thought.strip(), answer.strip())


MARKS = [mark for form in (*THOUGHTS, *ANSWERS) for mark in (form.opening, form.closing)]


@given(
    parts=st.lists(st.one_of(st.sampled_from(MARKS), PLAIN), max_size=12),
    tags=st.none() | st.tuples(st.sampled_from(["", "<", "a"]), st.sampled_from(["", "<", "b"])),
)
def test_a_split_of_any_text_has_no_answer_unless_it_is_finished(parts, tags):
    split = split_reasoning("".join(parts), tags)
    assert split.finished or not split.answer


@pytest.mark.parametrize(
    "unit",
    [
        "<think>", "</think>", "<think></think>", "<think><think></think>", '"</think>"',
        "<answer>", "<answer></answer>", "analysis", "<think></think><thinking></thinking>", " ",
    ],
)  # fmt: skip
def test_two_million_characters_are_split_in_seconds(unit):
    started = process_time()
    split_reasoning(unit * (2_000_000 // len(unit)))
    assert process_time() - started < 5


def test_a_prompt_that_ends_with_a_model_s_own_tag_opens_its_thought():
    assert find_opening_tag("ASSISTANT: {{\n", ("{{", "}}")) == "{{"
    assert find_opening_tag("ASSISTANT: }}", ("{{", "}}")) == ""
