"""Right in part is neither right nor wrong, "at least 3" is not 3; "not quite right" is wrong."""

import pytest

from bench_assets.core.judging.verdicts import RIGHT_OR_WRONG, read_word
from bench_assets.core.parsing.choices import read_choice, read_choices
from bench_assets.core.parsing.option_names import Options

IN_PART = (
    *("The statement is not entirely correct.", "The answer is not fully correct."),
    *("Not completely right.", "The statement is not always true.", "This isn't strictly true."),
    *("Not all of it is right.", "Not every claim is correct.", "Only half of it is right."),
    *("Partially correct.", "Mostly right.", "The response is nearly correct.", "Half right"),
    *("The answer is not completely wrong.", "It is partly incorrect."),
    *("这种说法不完全正确。", "不全对", "不是所有的说法都对", "并非每一项都正确", "并不都是对的"),
    *("这句话并不总是对的", "基本正确", "部分正确", "大致对。", "不见得对", "很难说对", "不能算错"),
)
NOT = (
    *("It's not quite correct.", "The statement isn't quite right.", "Not really true."),
    *("The claim is far from correct.", "This is hardly correct.", "Nowhere near correct."),
    *("No part of it is correct.", "It would be wrong to call this correct."),
    *("It should not be judged as correct.", "The answer must not be marked right."),
    *(
        "不太对",
        "该说法不够准确。",
        "算不上正确",
        "谈不上对",
        "不能算正确。",
        "否，与参考答案不一致",
    ),
    *("不是，这个标志表示禁止停车。", "No. It contradicts the reference."),
)
STATED = ("没有什么不对的。", "是的，这个标志表示禁止鸣喇叭。", "Yes. It matches the reference.")
JUDGES = (
    *("It did not get it right.", "It got nothing right.", "The response fails to be correct."),
    *("If we consider the colour, it's right.", "Right, except the number."),
    *("It got the colour right but not the object.", "The answer says right."),
)
DARKER = ("A is darker", "B is darker", "About the same")
IMAGES = ("the first image", "the second image", "the third image")
UNCHOSEN = (
    ("There are more than 2.", "3142", None),
    ("There are at least 3.", "3142", None),
    ("Fewer than 4.", "3142", None),
    ("3 or more.", "3142", None),
    ("至少3个", "3142", None),
    ("超过2个", "3142", None),
    ("There are more than 2: 3 dogs.", "3142", "A"),
    ("A is hardly closer than B.", ("A is closer", "B is closer"), None),
    ("A is barely closer.", ("A is closer", "B is closer"), None),
    ("The second image fits worse.", ("the second image", "the third image"), "B"),
    ("Box B misses the tail.", ("Box A", "Box B"), None),
    ("Box B includes too much background.", ("Box A", "Box B"), None),
    ("The first image is AI-generated.", IMAGES, None),
    ("Option B is fake.", IMAGES, None),
    ("Point A appears darker, but that is due to the shadow; they are the same.", DARKER, "C"),
    ("B looks darker because it is in shade, however the surface of A is darker.", DARKER, None),
    ("A is darker than B, even accounting for the shadow.", DARKER, "A"),
)
OF_TWO = (("right", "wrong"), ("正确", "错误"))


@pytest.mark.parametrize("options", OF_TWO, ids=["English", "Chinese"])
@pytest.mark.parametrize(
    ("response", "letter"),
    [
        *((one, None) for one in IN_PART),
        *((one, "B") for one in NOT),
        *((one, "A") for one in STATED),
    ],
)
def test_a_verdict_in_part_is_none(response, letter, options):
    assert read_choice(response, options).letter == letter


@pytest.mark.parametrize("said", [*IN_PART, *JUDGES])
def test_a_judge_that_says_neither_is_asked_again(said):
    assert read_word(said, RIGHT_OR_WRONG) is None


@pytest.mark.parametrize(
    "response",
    [
        "A不完全正确，B正确，C错误，D错误",
        "A 部分正确；B 正确；C、D 错误。",
        "A: partially correct\nB: correct\nC: wrong\nD: wrong",
    ],
)
def test_an_option_that_is_right_in_part_is_not_chosen(response):
    assert read_choices(response, Options(4, ("甲", "乙", "丙", "丁"))).letters == "B"


@pytest.mark.parametrize(
    ("response", "letters"),
    [
        ("先看A：对。再看B：错。C：对。D：错。", "AC"),
        ("A和B至少有一个对", ""),
        ("A、B中只有一个对", ""),
    ],
)
def test_options_are_chosen_where_each_is_judged_and_not_where_one_of_them_is(response, letters):
    assert read_choices(response, Options(4, ("甲", "乙", "丙", "丁"))).letters == letters


@pytest.mark.parametrize(
    "response",
    [
        "Yes. However, it differs from the reference.",
        "不，答案与参考答案一致",
        "Right. Overall, it is wrong.",
        "Wrong. The dog is named. Overall, the answer is right.",
    ],
)
def test_a_verdict_and_its_opposite_are_none(response):
    assert read_word(response, RIGHT_OR_WRONG) is None


@pytest.mark.parametrize(("response", "options", "letter"), UNCHOSEN)
def test_a_bound_or_a_fault_is_no_choice(response, options, letter):
    assert read_choice(response, tuple(options)).letter == letter
