"""What is asked: images and texts in their order."""

import pytest

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.errors import SettingsError
from bench_assets.file_benchmarks import prompts
from tests.fakes.rows import question

LETTER = "Answer with the letter of the right option."
TWO = {"images": ("1st", "2nd")}
CHOICE = {"text": "Which?", "kind": "choice", "options": ("red", "blue"), "answer": ("A",)}


@pytest.mark.parametrize(
    ("fields", "template", "parts"),
    [
        pytest.param(
            {**CHOICE, **TWO},
            "",
            (Image("1st"), Image("2nd"), f"Which?\n(A) red\n(B) blue\n\n{LETTER}"),
            id="images first, options below the question",
        ),
        pytest.param(
            {"text": "Who?", "context": "A play."},
            "",
            ("A play.\n\nWho?\n\nAnswer with a single word, a number or a short phrase.",),
            id="a text after its context",
        ),
        pytest.param(
            {"text": "Is <image 2> like <image 1>?", **TWO},
            "{question}",
            ("Is", Image("2nd"), "like", Image("1st"), "?"),
            id="images where they are numbered",
        ),
        pytest.param(
            {"text": "<image> or <image>?", **TWO},
            "{question}",
            (Image("1st"), "or", Image("2nd"), "?"),
            id="images where they are marked, in their order",
        ),
        pytest.param(
            {"text": "See <image 2>.", **TWO},
            "{question}",
            (Image("1st"), "See", Image("2nd"), "."),
            id="an image that no mark stands for comes first",
        ),
        pytest.param(
            {"text": "See <image 3>.", **TWO},
            "{question}",
            (Image("1st"), Image("2nd"), "See <image 3>."),
            id="a mark that no image is there for stays",
        ),
        pytest.param(
            {**CHOICE, "labels": {"level": "easy"}},
            "[{level}] {question} {A}/{B} {{}} {hint}",
            ("[easy] Which? red/blue {}",),
            id="a template with columns, one of them empty",
        ),
        pytest.param(
            {"text": "What does {x} mean?"}, "{question}", ("What does {x} mean?",), id="braces"
        ),
    ],
)
def test_a_question_has_its_prompt(fields, template, parts):
    assert prompts.main(question(**fields), prompts.PromptSettings(template)) == Prompt.of(*parts)


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
