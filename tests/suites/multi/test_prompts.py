import pytest

from bench_assets.core.schema.chat import Image
from bench_assets.suites.multi import prompts
from bench_assets.suites.multi.task import TASK
from tests.fakes.multi_rows import question

FOUR = question(
    text="甲[IMAGE_1]乙[IMAGE_2]丙[IMAGE_3]丁[IMAGE_4]\n哪幅最大？[MASK]",
    images=("p1", "p2", "p3", "p4"),
    labels={"images": "MI"},
)
ONE = question(text="看图[IMAGE_1]选择[MASK]\nA. 甲\nB. 乙", images=("p",), labels={"images": "SI"})


def prompt_text(prompt):
    """The parts of all turns, separated by bars; "<>" for an image."""
    parts = [part for turn in prompt.turns for part in turn.parts]
    return "|".join(part if isinstance(part, str) else "<>" for part in parts)


def test_the_prompt_of_figure_2_word_for_word():
    example = question(text=ONE.text, images=("p",), context="集合是……")
    assert prompt_text(prompts.main(example)) == (
        "你是一名来自中国的考生，你需要运用你所学的集合知识回答这道单选题。\n"
        "这道题目只有唯一的正确选项，请只给出唯一一个大写英文字母作为答案，不包含选项后面的描述，如：A，B，E。\n"
        "这道题目包含图片信息，请基于文字和图片信息，并按照格式给出答案。\n"
        "看图[IMAGE_1]|<>|选择[MASK]\nA. 甲\nB. 乙\n"
        "我们为你提供了一些额外材料，你可以参考这些信息来回答问题，请注意它们并不一定完整，也不一定正确，"
        "它们可能有图片输入，也有可能输入图片描述，也有可能只有文字，你需要结合你之前的知识来回答。\n"
        "集合是……\n"
        "请直接给出你的答案："
    )


@pytest.mark.parametrize(
    ("prompt", "example", "line"),
    [
        pytest.param(
            prompts.main, question(), "不包含图片信息，请基于文字信息，并按照格式", id="no image"
        ),
        pytest.param(prompts.main, ONE, "请基于文字和图片信息，并按照格式给出答案", id="an image"),
        pytest.param(
            prompts.main, question(images=("black",)), "输入一张纯黑图片", id="a black one"
        ),
        pytest.param(prompts.no_image, ONE, "我们不会提供这部分信息", id="taken away"),
        pytest.param(prompts.no_image, question(), "不包含图片信息", id="nothing to take away"),
        pytest.param(prompts.turn_by_turn, FOUR, "直到你被要求开始作答之前", id="one a turn"),
        pytest.param(prompts.chain_of_thought, ONE, "给出你对这道题的思考", id="thinking first"),
        pytest.param(
            prompts.texts_for_images,
            question(image_texts=("a cat",)),
            "我们使用生成的图片描述来代替图片",
            id="described",
        ),
    ],
)
def test_the_prompt_has_the_line_for_its_images_and_condition(prompt, example, line):
    assert line in prompt_text(prompt(example))


@pytest.mark.parametrize(
    "prompt",
    [
        pytest.param(prompts.no_image(ONE), id="taken away"),
        pytest.param(prompts.texts_for_images(question(image_texts=("一只猫",))), id="described"),
    ],
)
def test_a_prompt_without_its_images_allows_a_refusal(prompt):
    assert prompt.images == ()
    assert "缺少图片信息" in prompt_text(prompt)


def test_four_images_are_fed_in_five_turns_and_the_question_ends_in_the_fifth():
    prompt = prompts.turn_by_turn(FOUR)
    assert [turn.role for turn in prompt.turns] == ["user"] * 5
    *image_turns, last_turn = prompt.turns
    (first_text, first_image), *later_parts = (turn.parts for turn in image_turns)
    assert str(first_text).endswith("甲[IMAGE_1]")
    assert first_image == Image("p1")
    assert later_parts == [
        ("乙[IMAGE_2]", Image("p2")),
        ("丙[IMAGE_3]", Image("p3")),
        ("丁[IMAGE_4]", Image("p4")),
    ]
    assert last_turn.parts == ("哪幅最大？[MASK]\n请直接给出你的答案：",)


def test_reasoning_comes_in_one_turn_and_the_answer_in_the_next():
    reasoning, conclusion = prompts.chain_of_thought(ONE).turns
    assert str(reasoning.parts[-1]).endswith("请先在此处，逐步给出你对所给问题的思考过程、推理：")
    assert conclusion.parts == ("根据以上思考过程，你的最终答案是：",)


def test_no_reasoning_is_asked_for_before_an_open_answer():
    assert prompts.chain_of_thought(question("OP")) == prompts.main(question("OP"))


def test_the_current_prompt_sets_the_places_of_blanks_apart():
    """Their prompts.py, FB: a blank before and after each '[MASK]'."""
    assert (
        "每一个 '[MASK]' 对应一个最简且确定的答案，多个 '[MASK]' 的答案之间换行隔开"
        in prompt_text(prompts.today(question("FB")))
    )


def test_the_current_prompt_of_a_single_choice_is_that_of_the_paper():
    assert prompts.today(ONE) == prompts.main(ONE)


def test_the_current_prompt_of_type_other_is_that_of_an_open_question():
    assert prompts.today(question("Other")) == prompts.today(question("OP"))


@pytest.mark.parametrize("condition", TASK.conditions)
@pytest.mark.parametrize("kind", ["FB", "OP", "Other"])
def test_no_prompt_gives_the_answer_away(condition, kind):
    prompt = TASK.conditions[condition].prompt(question(kind, "谜底", text="谜面[MASK]"))
    assert "谜面" in prompt_text(prompt)
    assert "谜底" not in prompt_text(prompt)


@pytest.mark.parametrize("condition", TASK.conditions)
@pytest.mark.parametrize("kind", ["SA", "MA", "FB", "OP", "Other"])
def test_no_placeholder_is_left_in_a_prompt(condition, kind):
    prompt = TASK.conditions[condition].prompt(question(kind))
    assert "{" not in prompt_text(prompt).replace("{你的最终答案}", "")
