import pytest

from bench_assets.core.schema.chat import Image
from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink import prompts
from tests.fakes.rows import question

DEPTH = {
    "category": "Relative_Depth",
    "text": "Which point is closer to the camera?",
    "options": ("A is closer", "B is closer"),
    "images": ("a" * 64,),
}


def prompt_parts(prompt):
    (turn,) = prompt.turns
    return turn.parts


def test_the_image_comes_before_the_text():
    image, _ = prompt_parts(prompts.main(question(**DEPTH)))
    assert image == Image("a" * 64)


def test_a_response_reaches_the_judge_as_it_is():
    (text,) = prompt_parts(prompts.judge(question(**DEPTH), "I think {it} is B"))
    assert text.endswith("Answer: I think {it} is B\nYour output: ")


@pytest.mark.parametrize("task", ["Forensic_Detection", "Jigsaw", "Art_Style"])
def test_three_tasks_begin_with_the_disclaimer(task):
    text = prompt_parts(prompts.main(question(**DEPTH | {"category": task})))[-1]
    assert text.startswith("Disclaimer: This is not to make unfair assumptions about the people")
    assert "the information I gave you.\n\nWhich point" in text


def test_a_question_without_its_image_has_no_prompt():
    with pytest.raises(SourceError, match="t/1: its image is not in the source"):
        prompts.main(question(**DEPTH | {"images": ()}))


def test_captions_are_numbered_where_there_are_several():
    captioned = question(**DEPTH | {"images": (), "image_texts": ("a cat", "a dog")})
    (text,) = prompt_parts(prompts.captions_for_images(captioned))
    assert "Caption of image 1: a cat\n\nCaption of image 2: a dog\n\nWhich point" in text


def test_every_prompt_matches_the_golden_file(golden):
    jigsaw = question(**DEPTH | {"category": "Jigsaw", "images": ("a" * 64, "b" * 64)})
    captioned = question(**DEPTH | {"image_texts": ("[CAPTION HERE]",)})
    prompts_by_name = {
        "main": prompts.main(question(**DEPTH)),
        "main, with the disclaimer": prompts.main(jigsaw),
        "captions_for_images": prompts.captions_for_images(captioned),
        "caption": prompts.caption("a" * 64),
        "judge": prompts.judge(question(**DEPTH), "[REPLY HERE]"),
    }
    texts = [f"## {name}\n{prompt_parts(prompt)[-1]}" for name, prompt in prompts_by_name.items()]
    golden("blink_prompts.txt", "\n\n".join(texts) + "\n")
