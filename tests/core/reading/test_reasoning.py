import re
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
from bench_assets.core.schema.chat import Response

HARMONY = "<|channel|>analysis<|message|>Up?<|end|><|start|>assistant"
FORMS = [pytest.param(form, id=form.opening) for form in THOUGHTS]
PLAIN = st.text("ab ,.\n\"'`()[é思\ud800", max_size=20)  # no two of them begin a tag


@pytest.mark.parametrize(
    ("response", "thought", "answer"),
    [
        pytest.param("<think>Up or down?</think>\nUp.", "Up or down?", "Up.", id="a thought"),
        pytest.param(" \n<think>Up?</think> Up.", "Up?", "Up.", id="after white space"),
        pytest.param("<think>\n\n</think>\n\nUp.", "", "Up.", id="an empty thought"),
        pytest.param("<think>Up?</think>", "Up?", "", id="a thought and no word after it"),
        pytest.param("<thinking>Up?</thinking>Down.", "Up?", "Down.", id="another tag"),
        pytest.param("so, up</think>Up.", "so, up", "Up.", id="opened by the chat template"),
        pytest.param('so "Up"</think>"Up"', 'so "Up"', '"Up"', id="after a quotation"),
        pytest.param("</think>Up.", "", "Up.", id="an empty thought that the template opened"),
        pytest.param("<think>\n<think>Up?</think>Up.", "<think>Up?", "Up.", id="opened by both"),
        pytest.param(
            "<think>a</think>\n<think>b</think>c", "a\n\nb", "c", id="thoughts in a row are one"
        ),
        pytest.param("a</think><think>b</think>c", "a\n\nb", "c", id="in a row, the first opened"),
        pytest.param(
            "<think>a<think>b</think>c</think>d", "a<think>b</think>c", "d", id="one in another"
        ),
        pytest.param(
            "<think>The <think> tag?</think>Up.", "The <think> tag?", "Up.", id="thinks of its tag"
        ),
        pytest.param(
            "<think>hm</think>Close with </think>.", "hm", "Close with </think>.", id="then says it"
        ),
        pytest.param(
            "<think>a</think>b<think>c</think>d", "a", "b<think>c</think>d", id="the second is text"
        ),
        pytest.param(
            "<SUMMARY>a</SUMMARY>\n<CAPTION>b</CAPTION>\n<REASONING>c</REASONING>\n"
            "<CONCLUSION>Up.</CONCLUSION>",
            "a\n\nb\n\nc",
            "Up.",
            id="LLaVA-CoT's stages",
        ),
        pytest.param(
            HARMONY + "<|channel|>final<|message|>Up.<|return|>", "Up?", "Up.", id="channels"
        ),
        pytest.param(HARMONY + "<|channel|>final<|message|>Up, or", "Up?", "Up, or", id="cut off"),
        pytest.param(
            HARMONY + HARMONY + "<|channel|>final<|message|>Up.<|end|>",
            "Up?\n\nUp?",
            "Up.",
            id="channels of a history",
        ),
        pytest.param(
            "analysisSay up. This analysis ends.assistantfinalUp.",
            "Say up. This analysis ends.",
            "Up.",
            id="channels without their special tokens",
        ),
        pytest.param("<|channel>thought\nUp?<channel|>Up.", "Up?", "Up.", id="Gemma's channel"),
        pytest.param(
            "<think>Up?</think><answer><|begin_of_box|>Up<|end_of_box|></answer>",
            "Up?",
            "Up",
            id="a box in an answer",
        ),
        pytest.param(
            "<think>Up?</think>A-D-F is the longest.\n\n<|begin_of_box|>B<|end_of_box|>",
            "Up?",
            "A-D-F is the longest.\n\n\\boxed{B}",
            id="GLM's box is the last line",
        ),
        pytest.param(
            "<think>Up?</think>It is <|begin_of_box|>up<|end_of_box|>.",
            "Up?",
            "It is up.",
            id="a box inside a sentence",
        ),
        pytest.param("<think>Up?</think><answer>Up, or", "Up?", "Up, or", id="an answer cut off"),
        pytest.param("<think><answer>Up</answer>", "", "Up", id="not closed, and nothing thought"),
        pytest.param("<answer>Up</answer>", "", "Up", id="an answer without a thought"),
        pytest.param("<answer>Up</answer> It is so.", "", "Up", id="words after the answer"),
        pytest.param("<answer> </answer>Up", "", "Up", id="nothing in the answer's marks"),
        pytest.param("<answer><answer>Up", "", "<answer>Up", id="marks are taken off once"),
        pytest.param(
            "<answer>A</answer> <answer>B</answer>",
            "",
            "<answer>A</answer> <answer>B</answer>",
            id="two answers are left to the scorer",
        ),
        pytest.param(
            "<think>Up? <answer>Up</answer>", "Up?", "Up", id="not closed, but answered at the end"
        ),
        pytest.param(
            "<think>a<think>b</think>c</think>d</think>e",
            "a<think>b</think>c",
            "d</think>e",
            id="one within another ends with the first tag that is left over",
        ),
        pytest.param(
            "[THINK]a</think>b[/THINK]c", "a</think>b", "c", id="another form's end within it"
        ),
        pytest.param(
            "analysis a analysis b assistantfinal c assistantfinal d",
            "a analysis b",
            "c assistantfinal d",
            id="words do not nest",
        ),
        pytest.param('a"</think>"b', 'a"', '"b', id="the end of one quotation and the next"),
    ],
)
def test_thoughts_and_the_marks_of_answers_are_taken_off(response, thought, answer):
    assert split_reasoning(response) == ReasoningSplit(thought, answer, finished=True)


@pytest.mark.parametrize(
    "response",
    [
        pytest.param("Up.", id="no tags"),
        pytest.param(" Up.\n", id="white space around it"),
        pytest.param("I think up.", id="the word"),
        pytest.param("I use the <think> tag.", id="an opening tag further on"),
        pytest.param("Up. <think>Sure?</think> Up.", id="a thought further on"),
        pytest.param("Write <think> first and </think> last.", id="both tags spoken of"),
        pytest.param('Thoughts end with "</think>" here.', id="a closing tag in quotation marks"),
        pytest.param("Thoughts end with `</think>`.", id="a closing tag as code"),
        pytest.param("It is <answer>up</answer>.", id="marks of an answer further on"),
        pytest.param("analysis of the image: up", id="a word that also names a channel"),
        pytest.param("Here is my thought process: it is up.", id="words that open and never close"),
        pytest.param("We agree. Here is my response: up.", id="words that close alone"),
    ],
)
def test_what_opens_with_no_thought_stays_to_the_letter(response):
    assert split_reasoning(response) == ReasoningSplit("", response, finished=True)


@pytest.mark.parametrize(
    ("response", "thought"),
    [
        pytest.param("<think>up, I gu", "up, I gu", id="in the middle of a word"),
        pytest.param("<think>", "", id="at its beginning"),
        pytest.param("<think>a</think><think>b", "a\n\nb", id="the second of two"),
        pytest.param("<think></think><think>b", "b", id="after an empty one"),
        pytest.param("<think>I write <answer>A</answer> and", "I write <answer>A</answer> and",
                     id="while it thinks of the form"),
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
def test_every_known_form_is_taken_apart(form, thought, answer):
    response = form.opening + thought + form.closing + answer
    assert split_reasoning(response) == ReasoningSplit(thought.strip(), answer.strip())


MARKS = [mark for form in (*THOUGHTS, *ANSWERS) for mark in (form.opening, form.closing)]


@given(
    parts=st.lists(st.one_of(st.sampled_from(MARKS), PLAIN), max_size=12),
    tags=st.none() | st.tuples(st.sampled_from(["", "<", "a"]), st.sampled_from(["", "<", "b"])),
)
def test_any_text_can_be_taken_apart(parts, tags):
    split = split_reasoning("".join(parts), tags)
    assert split.finished or not split.answer


@pytest.mark.parametrize(
    "unit",
    [
        "<think>", "</think>", "<think></think>", "<think><think></think>", '"</think>"',
        "<answer>", "<answer></answer>", "analysis", "<think></think><thinking></thinking>", " ",
    ],
)  # fmt: skip
def test_the_time_is_in_proportion_to_the_length(unit):
    started = process_time()
    split_reasoning(unit * (2_000_000 // len(unit)))
    assert process_time() - started < 5


def test_a_prompt_that_ends_with_a_model_s_own_tag_opens_its_thought():
    assert find_opening_tag("ASSISTANT: {{\n", ("{{", "}}")) == "{{"
    assert find_opening_tag("ASSISTANT: }}", ("{{", "}}")) == ""


def test_a_tag_is_closed_by_the_same_with_a_stroke_or_by_its_end():
    tags = [form for form in (*THOUGHTS, *ANSWERS) if form.opening[0] in "<[◁"]
    ends = str.maketrans({"<": "</", "[": "[/", "◁": "◁/"})
    words = {"START": "END", "begin": "end", "prefix": "suffix"}
    for form in tags:
        if found := re.search("|".join(words), form.opening):
            assert form.closing == form.opening.replace(found[0], words[found[0]])
        elif not re.search("unused|channel", form.opening):
            assert form.closing == form.opening.translate(ends)
    assert len(tags) == 26


def test_no_form_stands_twice_and_none_hides_another():
    openings = [form.opening for form in THOUGHTS]
    hidden = [(a, b) for a in openings for b in openings if a != b and b.startswith(a)]
    assert (len(set(openings)), hidden) == (len(openings), [])


@pytest.mark.parametrize(
    ("response", "no_answer"),
    [
        pytest.param(Response(text="<think>hm", completion_tokens=512), "no answer in 512 tokens",
                     id="a thought cut off"),
        pytest.param(Response(text=" ", finish_reason="length", completion_tokens=8),
                     "no answer in 8 tokens", id="nothing visible at the limit"),
        pytest.param(Response(text="<think>a</think>", finish_reason="length", completion_tokens=9),
                     "no answer in 9 tokens", id="a thought that took all tokens"),
        pytest.param(Response(text="<think>hm"), "no answer before it was cut off",
                     id="nobody counted the tokens"),
        pytest.param(Response(text="hm", thinking_tags=("hm", "!")),
                     "no answer before it was cut off", id="a thought in the model's own tags"),
        pytest.param(Response(text="Up, or", finish_reason="length"), "", id="an answer cut off"),
        pytest.param(Response(text="", finish_reason="stop"), "", id="silence"),
        pytest.param(Response(error="503"), "", id="no response at all"),
    ],
)  # fmt: skip
def test_a_response_says_when_it_was_cut_off_before_an_answer(response, no_answer):
    assert response.no_answer == no_answer
