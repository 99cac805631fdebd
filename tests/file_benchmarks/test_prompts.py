import pytest

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.errors import SettingsError
from bench_assets.file_benchmarks import prompts
from tests.cases import read_cases
from tests.fakes.rows import question

CHOICE = {"text": "Which?", "kind": "choice", "options": ("red", "blue"), "answer": ("A",)}


@pytest.mark.parametrize(
    ("fields", "template", "expected"), read_cases(__file__, "prompts.jsonl", tuples=True)
)
def test_a_prompt_has_images_and_texts_in_the_order_of_the_template(fields, template, expected):
    parts = [Image(part["image"]) if isinstance(part, dict) else part for part in expected]
    assert prompts.main(question(**fields), prompts.PromptSettings(template)) == Prompt.of(*parts)


def test_a_prompt_without_images_keeps_the_texts():
    prompt = prompts.no_image(
        question(text="Is <image> red?", images=("1st",)), prompts.PromptSettings("{question}")
    )
    assert prompt == Prompt.of("Is", "red?")


@pytest.mark.parametrize(
    ("fields", "expected_text"),
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
def test_the_judge_sees_the_right_answer_and_the_response(fields, expected_text):
    prompt = prompts.judge(question(**fields), "A {mug}.")
    (text,) = map(str, prompt.turns[0].parts)
    assert expected_text in text
    assert "\nReply: A {mug}.\n" in text


@pytest.mark.parametrize(
    "template", [pytest.param("{question", id="an open brace"), pytest.param("{}", id="no name")]
)
def test_an_invalid_template_is_refused(template):
    with pytest.raises(SettingsError, match="prompt"):
        prompts.fields_of(template)
