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
    (text,) = [p for turn in prompt.turns for p in turn.parts if isinstance(p, str)]
    return text


def one_line(text):
    return " ".join(text.replace("’", "'").split())


def test_every_text_that_a_model_reads_is_as_a_person_last_saw_it(golden):
    shown = [f"## {name}\n{text_of(c.prompt(QUERY))}" for name, c in TASK.conditions.items()]
    judge = text_of(prompts.judge(QUERY, "[OUTPUT HERE]"))
    golden("codis_prompts.txt", "\n\n".join([*shown, f"## judge\n{judge}"]) + "\n")


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
    paper = one_line((shared_data.parent / "papers" / "codis.txt").read_text(encoding="utf-8"))
    filled = text_of(TASK.conditions[condition].prompt(QUERY))
    assert f"{printed_as} {one_line(filled)}" in paper


def test_judge_prompt_is_that_of_table_12(shared_data):
    paper = one_line((shared_data.parent / "papers" / "codis.txt").read_text(encoding="utf-8"))
    filled = text_of(prompts.judge(QUERY, "[OUTPUT HERE]"))
    assert f"Prompt for Evaluation {one_line(filled)} Table 12" in paper


def test_captions_stand_where_images_stood():
    filled = text_of(prompts.captions_for_images(QUERY))
    assert "Caption: [CAPTION HERE]\nContext: [CONTEXT HERE]\n" in filled
    assert "the image" not in filled


def test_curly_brackets_in_a_response_reach_the_judge_as_they_are():
    filled = text_of(prompts.judge(QUERY, "{answer} {0}"))
    assert filled.endswith("Here is the output: {answer} {0}")
