import pytest

from bench_assets.suites.codis import prompts
from bench_assets.suites.codis.task import TASK
from tests.fakes.rows import question

QUERY = question(
    text="[QUESTION HERE]",
    context="[CONTEXT HERE]",
    answer=("[GROUNDTRUTH HERE]",),
    options=("[ONE]", "[OTHER]"),
    images=("a" * 64,),
    image_texts=("[CAPTION HERE]",),
)


def text_of(prompt):
    (text,) = [part for turn in prompt.turns for part in turn.parts if isinstance(part, str)]
    return text


def normalize(text):
    """Join lines and straighten apostrophes."""
    return " ".join(text.replace("’", "'").split())


def test_every_prompt_matches_the_golden_file(golden):
    texts = {name: text_of(condition.prompt(QUERY)) for name, condition in TASK.conditions.items()}
    texts["judge"] = text_of(prompts.judge(QUERY, "[OUTPUT HERE]"))
    golden("codis_prompts.txt", "\n\n".join(f"## {n}\n{text}" for n, text in texts.items()) + "\n")


@pytest.mark.parametrize(
    ("printed_as", "condition"),
    [
        ("w/ DI w/ CoT", "main"),
        ("w/ DI w/o CoT", "no_chain_of_thought"),
        ("w/o DI w/ CoT", "no_detailed_instructions"),
        ("w/o DI w/o CoT", "plain"),
    ],
)
def test_inference_prompts_are_those_of_table_11(shared_data, printed_as, condition):
    paper = normalize((shared_data.parent / "papers" / "codis.txt").read_text(encoding="utf-8"))
    prompt = text_of(TASK.conditions[condition].prompt(QUERY))
    assert f"{printed_as} {normalize(prompt)}" in paper


def test_judge_prompt_is_that_of_table_12(shared_data):
    paper = normalize((shared_data.parent / "papers" / "codis.txt").read_text(encoding="utf-8"))
    prompt = text_of(prompts.judge(QUERY, "[OUTPUT HERE]"))
    assert f"Prompt for Evaluation {normalize(prompt)} Table 12" in paper


def test_curly_brackets_in_a_response_reach_the_judge_as_they_are():
    prompt = text_of(prompts.judge(QUERY, "{answer} {0}"))
    assert prompt.endswith("Here is the output: {answer} {0}")
