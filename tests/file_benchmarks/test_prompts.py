"""What is asked: images and texts in their order."""

import pytest

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.errors import SettingsError
from bench_assets.file_benchmarks import prompts
from tests.cases import read_cases
from tests.fakes.rows import question

CHOICE = {"text": "Which?", "kind": "choice", "options": ("red", "blue"), "answer": ("A",)}


@pytest.mark.parametrize(
    ("fields", "template", "parts"), read_cases(__file__, "prompts.jsonl", tuples=True)
)
def test_a_question_has_its_prompt(fields, template, parts):
    shown = [Image(part["image"]) if isinstance(part, dict) else part for part in parts]
    assert prompts.main(question(**fields), prompts.PromptSettings(template)) == Prompt.of(*shown)


def test_without_the_images_the_texts_stay():
    prompt = prompts.no_image(
        question(text="Is <image> red?", images=("1st",)), prompts.PromptSettings("{question}")
    )
    assert prompt == Prompt.of("Is", "red?")


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        pytest.param(CHOICE, "(A) red\n(B) blue\nRight answer: (A) red\n", id="an option"),
        pytest.param(
            {**CHOICE, "kind": "choices", "answer": ("A", "B")},
            "Right answer: (A) red and (B) blue\n",
            id="several options",
        ),
        pytest.param(
            {"answer": ("a cup", "mug")}, "Question: ?\nRight answer: a cup or mug\n", id="texts"
        ),
    ],
)
def test_the_judge_sees_the_right_answer_and_the_response(fields, shown):
    (text,) = map(str, prompts.judge(question(**fields), "A {mug}.").turns[0].parts)
    assert shown in text
    assert "\nReply: A {mug}.\n" in text


@pytest.mark.parametrize(
    "template", [pytest.param("{question", id="an open brace"), pytest.param("{}", id="no name")]
)
def test_a_template_that_is_none_is_refused(template):
    with pytest.raises(SettingsError, match="prompt"):
        prompts.fields_of(template)
