import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_assets.core.parsing.choices import lettered, read_choice, read_choices
from bench_assets.core.parsing.option_names import Options

CLOSER = ("A is closer", "B is closer")
DARKER = ("A is darker", "B is darker", "About the same")
INCOMES = ("$12,000", "$15,000", "$20,000")
IMAGES = ("the second image", "the third image")


def test_options_are_lettered_in_the_order_they_come():
    assert lettered(("far", "near", "equal")) == "(A) far\n(B) near\n(C) equal"


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        pytest.param("B", "B", id="the letter"),
        pytest.param(" (b). ", "B", id="case, brackets, full stop and blanks do not count"),
        pytest.param("**C**", "C", id="bold"),
        pytest.param("(A) the second image", "A", id="letter and text"),
        pytest.param("The answer is (B).", "B", id="the answer is"),
        pytest.param("Answer: **D**", "D", id="a label"),
        pytest.param("I rule out (A). The answer is C.", "C", id="what is stated beats the rest"),
        pytest.param("(A) or (B)", None, id="two letters"),
        pytest.param("A\nB", None, id="two letters, a line each"),
        pytest.param("The answer is A. No, the answer is B.", "B", id="a correction"),
        pytest.param("E", None, id="a letter that was not offered"),
        pytest.param("A dog is near.", None, id="an article is no letter"),
        pytest.param("The answer is about the same.", None, id="a word after the answer is"),
        pytest.param("I cannot tell.", None, id="a refusal"),
        pytest.param("", None, id="nothing"),
        pytest.param("I would go for B here", "B", id="six words with one letter"),
        pytest.param("I would just go for B here", "B", id="what is gone for"),
    ],
)
def test_the_letter_that_a_response_commits_to(response, letter):
    assert read_choice(response, [""] * 4).letter == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        pytest.param("Yes, there is no doubt.", "A", id="one word before a comma"),
        pytest.param("no. The sky is blue", "B", id="before the first stop"),
        pytest.param("Yes or no, who knows?", None, id="two before a comma"),
        pytest.param("To the left, not far away.", "C", id="several words before a comma"),
    ],
)
def test_the_text_of_an_option_that_a_response_opens_with(response, letter):
    assert read_choice(response, ["yes", "no", "to the left"]).letter == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        pytest.param("The answer is left.", "A", id="it is the text"),
        pytest.param("The answer is leftover.", None, id="it begins with a longer word"),
    ],
)
def test_what_is_stated_is_an_option_whose_text_it_begins_with(response, letter):
    assert read_choice(response, ["left", "right"]).letter == letter


@given(st.text(alphabet="ABCDEFab ()*.:answeri\n"), st.integers(1, 5))
def test_only_offered_letters_are_read(response, n_options):
    assert read_choice(response, [""] * n_options).letter in (None, *"ABCDE"[:n_options])


@pytest.mark.parametrize("response", ["A, C", "A、C", "(A, C", "- A C"])
def test_letters_of_which_one_is_not_offered_are_no_answer(response):
    options = Options(2, ("red", "blue"))
    assert read_choices(response, options).letters == ""
    assert read_choice(response, options.texts).letter is None


LEFT_OPEN = [
    *(f"The answer is B, but it {how} be A." for how in ("could", "might", "may", "could also")),
    *(f"The answer is B. Or {how} A." for how in ("maybe", "perhaps", "possibly")),
    *(
        f"The answer is B; A {how} too."
        for how in (
            *("is possible", "is plausible", "seems plausible", "could be right", "might be right"),
            *("may be correct", "is also possible", "is correct"),
        )
    ),
    *(
        "答案是B，但也可能是A。",
        "The answer is B，no，it might be A.",
        "The answer is B, not C; it may be A.",
    ),
    *("The answer is B, not C, it may be A.", "The answer is B；not so；it may be A."),
]
NOT_LEFT_OPEN = [
    "It could also be A. But the answer is B.",
    "The answer is B, and not possibly A.",
    "The answer is B, which could be a problem.",
    "The answer is B because it could not be A.",
]


@pytest.mark.parametrize("response", LEFT_OPEN)
def test_an_option_after_which_another_is_left_open_is_not_chosen(response):
    assert read_choice(response, ("", "", "", "")).letter is None


@pytest.mark.parametrize("response", NOT_LEFT_OPEN)
def test_what_is_weighed_before_or_denied_leaves_nothing_open(response):
    assert read_choice(response, ("", "", "", "")).letter == "B"


@pytest.mark.parametrize(
    "response",
    [
        "The answer cannot be determined; the left image is missing.",
        "The left image is missing.",
        "The left image is not available.",
        "The left image failed to load.",
    ],
)
def test_a_image_that_is_missing_is_not_chosen(response):
    assert read_choice(response, ("the left image", "the right image")).letter is None


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        pytest.param(
            "A is darker because of the shade, or maybe they are the same.", None, id="or"
        ),
        pytest.param("A is darker because of the light or the shade.", "A", id="a reason with or"),
        pytest.param("They look about the same to me.", "C", id="what is said of both"),
        pytest.param("They do not look the same.", None, id="and denied"),
    ],
)
def test_a_claim_that_another_one_may_replace_is_none(response, letter):
    options = ("A is darker", "B is darker", "About the same")
    assert read_choice(response, options).letter == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("The camera moves left; the objects therefore appear to move right.", "A"),
        ("It rotates to the right.", "B"),
        ("The man says it turns left.", None),
    ],
)
def test_what_moves_is_the_camera(response, letter):
    assert read_choice(response, ("left", "right")).letter == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("I count two: one in front, one behind the tree.", "A"),
        ("There are 4 cats in total: two on the sofa, one on the rug and one on the sill.", "C"),
        ("4 cats are visible — two on the sofa and two on the rug.", "C"),
        ("There are 5 dogs, 2 of which are on the left and 3 on the right.", "D"),
        ("图中一共有4只猫：沙发上两只，地毯上一只，窗台上还有一只。", "C"),
        ("(D) 5 — I count three on each side and one at the end.", "D"),
        ("(D) 5 — wait, one is a stool, so 4.", None),
        ("There is 1 dog in the front and 1 in the back. Total: 2.", "A"),
        ("Total: 1 + 1 + 1 = 3.\n\nThe correct option is B.", "B"),
        ("There are 2 tables, each with 2 chairs, giving 4 chairs.", "C"),
        ("There are 4, 3 or 1.", None),
        ("The numbers are 5, 3, 2 in the image.", None),
        ("In row 5 (3 on the left, 2 in the middle) there are cars.", None),
        ("(A) 2 (wrong)", None),
    ],
)
def test_a_number_that_is_counted_is_not_one_of_its_parts(response, letter):
    assert read_choice(response, ("2", "3", "4", "5")).letter == letter


MOODS = ("Happy", "Angry", "Sad", "Surprised")


@pytest.mark.parametrize(
    ("response", "options", "letter"),
    [
        ("His slumped posture suggests **sadness** (option C).", MOODS, "C"),
        ("Sad is the most fitting choice.", MOODS, "C"),
        ("Of the choices, sad fits best.", MOODS, "C"),
        ("Frowning would suggest anger (B).", MOODS, None),
        ("The picture displays sorrow rather than joy (A).", MOODS, None),
        (
            "It shows 9:15 in the mirror, which means the actual time is 2:45.",
            ("9:15", "2:45"),
            "B",
        ),
        ("B is higher, which means it is farther away; A is closer.", CLOSER, "A"),
        ("B is blurred, so the focus is on A, but B is closer.", CLOSER, "B"),
        ("(A) the second image - but the third image fits better", IMAGES, "B"),
        ("A is closer to the horizon, so it is farther; B is closer to the camera.", CLOSER, "B"),
        ("A is closer to the center.", CLOSER, None),
        ("A has a darker surface color.", DARKER, "A"),
        ("The colors are nearly identical.", DARKER, "C"),
        ("A appears darker than B, however this is an illusion.", DARKER, None),
        ("The odd one out is the second image.", IMAGES, "B"),
        ("The second image more closely resembles the first than the third does.", IMAGES, "A"),
        ("Therefore, the current is \\(3 \\, A\\).", ("1 A", "2 A", "3 A"), "C"),
        ("R = 4 Ω, so I = 12/4 = 3 A.", ("1 A", "2 A", "3 A"), None),
        ("Income: $21,000 - $1,000 = $20,000\nNet: $15,000\n\nSo it is (B).", INCOMES, "B"),
        ("Point B has the darker surface color.", DARKER, "B"),
        ("他们之间是医患关系。", ("师生", "母子", "医患"), "C"),
        ("答案在师生和母子之间。", ("师生", "母子", "医患"), None),
        ("因此有16个氢原子，分子式为 C10H16O2，与选项A", MOODS, None),
        ("因此，与题图一致的是选项A", MOODS, "A"),
        ("结合图像可知，这与选项A", MOODS, None),
    ],
)
def test_the_option_that_a_sentence_commits_to(response, options, letter):
    assert read_choice(response, options).letter == letter


def test_options_joined_across_a_comma_are_all_chosen():
    options = ("减速", "鸣喇叭示意", "加速通过", "观察左右")
    said = "正确的做法是减速、鸣喇叭示意，并观察左右。"
    assert read_choices(said, Options(4, options)).letters == "ABD"


def test_what_is_stated_and_what_is_concluded_may_contradict_each_other():
    said = read_choice("The answer is (A). Therefore, the camera moves right.", ("left", "right"))
    assert said == (None, "names (A) and (B)")


@pytest.mark.parametrize("response", ["(B) left", "(A) Right,", "B) left"])
def test_a_letter_against_the_text_of_another_option_is_no_choice(response):
    """The only letter is not taken where what follows it is the other option's text."""
    assert read_choice(response, ("left", "right")).letter is None


FURNITURE = ("lamp", "sofa")


@pytest.mark.parametrize(
    ("response", "options", "letter"),
    [
        pytest.param(
            "(A) left\nTherefore, it is (B).",
            ("left", "right"),
            "B",
            id="a line of one option and the conclusion that it is another",
        ),
        pytest.param(
            "The answer is near the lamp, not the sofa.",
            FURNITURE,
            None,
            id="what is stated begins with no option",
        ),
        pytest.param("Two dogs can be seen.", ("1", "2"), "B", id="a number with a capital"),
        pytest.param("I looked at all of it.", ("all", "few"), None, id="words of three letters"),
        pytest.param(
            "It stands inside that old house.",
            ("behind the house", "inside the house"),
            "B",
            id="the words of one option",
        ),
        pytest.param(
            "It does not stand inside that old house.",
            ("behind the house", "inside the house"),
            None,
            id="the words of one option in a denial",
        ),
        pytest.param(
            "这条抛物线是开口朝下的。",
            ("图像开口向上", "图像开口向下"),
            "B",
            id="the characters of one option",
        ),
        pytest.param(
            "A: it fits best.\nThe rest is background.",
            FURNITURE,
            "A",
            id="one line with a letter is no list",
        ),
        pytest.param(
            "A. A lamp would be seen.\nB. A sofa is too large.\nThe lamp fits.",
            FURNITURE,
            "A",
            id="a list of two goes through them and chooses none",
        ),
        pytest.param(
            "Lamp\n(A) lamp\n(B) sofa",
            FURNITURE,
            "A",
            id="a list of all options behind one of them",
        ),
    ],
)
def test_what_only_one_reader_would_read(response, options, letter):
    assert read_choice(response, options).letter == letter


@pytest.mark.parametrize(
    "loop",
    [
        *("!", " ", "\n", "? ", "选", "答案", "(A), ", "so A, ", "not (A), ", "A, not B, "),
        *("if answer ", "(A) is correct ", "please ", "U.S.", "no, ", "\\boxed{A}"),
    ],
)
def test_what_loops_behind_a_letter_takes_little_time(loop):
    started = time.process_time()  # s of CPU: how busy the machine is does not matter
    read_choice(f"A{loop * (16_000 // len(loop))}x", ("a car", "no", "none of them", ""))
    assert time.process_time() - started < 3  # what is quadratic takes more at 16,000


@pytest.mark.parametrize("loop", ["√ ", "× ", "√:", "[x]: "])
def test_what_loops_of_verdicts_takes_little_time(loop):
    started = time.process_time()
    read_choice(loop * (32_000 // len(loop)), ("yes", "no"))
    assert time.process_time() - started < 3  # what is quadratic takes 10 and more


def test_a_list_without_end_takes_little_time():
    started = time.process_time()
    read_choices("a" + "A. x\n" * 20_000, Options(3, ("x", "y", "z")))
    assert time.process_time() - started < 3  # what is quadratic takes 10


@pytest.mark.parametrize(
    ("response", "letters"),
    [
        pytest.param("除B、D外都正确", "AC", id="all but two"),
        pytest.param("除了C以外的选项都对", "ABD", id="all but one"),
        pytest.param("排除A、B，剩下的选项正确", "CD", id="what is left"),
    ],
)
def test_a_complement_is_the_other_options(response, letters):
    assert read_choices(response, Options(4)).letters == letters


@pytest.mark.parametrize(
    ("response", "options", "letter"),
    [
        ("The second one.", ("the second image", "the third image"), "A"),
        ("The third one.", ("the second image", "the third image"), "B"),
        ("A is nearer to the camera.", ("A is closer", "B is closer"), "A"),
        ("B is right because it could be dark.", ("red", "green", "blue"), "B"),
        ("✓ B ✗ A ✗ C", ("red", "green", "blue"), "B"),
        ("The sets {[1, 2]} differ, so the answer is (B).", ("red", "green"), "B"),
    ],
)
def test_what_few_responses_need(response, options, letter):
    assert read_choice(response, options).letter == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("There are no dogs in the picture.", "D"),
        ("There aren't any dogs", "D"),
        ("图中没有狗。", "D"),
        ("There are no dogs but three cats.", "A"),
        ("There are no dogs. I see cats.", None),
        ("There is no clear answer.", None),
        *((f"There are no dogs {but} the brown one.", None) for but in ("besides", "except")),
        ("There are no dogs without a collar.", None),
        ("There are no other dogs.", None),
        ("Only there are no dogs.", None),
    ],
)
def test_a_response_that_only_denies_things_counts_none(response, letter):
    assert read_choice(response, ("3", "2", "1", "0")).letter == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("The camera is moving slightly to the left.", "A"),
        *((f"The camera {moves} left.", None)
          for moves in ("is not moving", "isn't turning", "never moves")),
        ("The camera is not moving left but right.", "B"),
        ("The camera is moving left or right.", None),
        ("As the camera moves, objects shift left.", None),
        ("It is not moving right.", None),
        ("The view pans right or left.", None),
        ("相机向左移动。", "A"),
        ("相机没有向左移动。", None),
        ("相机移动时，物体向左移动。", None),
        ("相机向左或向右移动。", None),
        ("相机不是向左，而是向右移动。", "B"),
    ],
)  # fmt: skip
def test_a_camera_that_does_not_move_or_what_it_shows_chooses_no_side(response, letter):
    assert read_choice(response, ("left", "right")).letter == letter


VEHICLES = ("a car", "a truck", "a bicycle", "a bus")


@pytest.mark.parametrize(
    ("response", "options"),
    [
        *((f"It is {compared} a car.", VEHICLES)
          for compared in ("bigger than", "as large as", "far from", "next to")),
        ("It is a bus-sized vehicle.", VEHICLES),
        ("greenish-blue", ("orange", "green", "blue", "black")),
        *((f"{place} 1: Look at the table.", ("3", "2", "1", "0")) for place in ("Step", "Room")),
        ("I doubt that A is closer.", CLOSER),
        ("B isn't any darker than A.", DARKER),
    ],
)  # fmt: skip
def test_an_option_that_something_is_compared_with_is_not_chosen(response, options):
    assert read_choice(response, options).letter is None


def test_a_place_that_no_option_names_is_no_option():
    options = ("the first word", "the second word", "the third word")
    assert read_choice("The second word is repeated.", options).letter == "B"
    assert read_choice("The fourth word is repeated.", options).letter is None


def test_texts_of_several_options_are_their_letters():
    assert read_choices("铁、钠、铜", Options(4, ("铁", "钠", "铜", "金"))).letters == "ABC"
