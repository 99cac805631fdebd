"""What agrees with a number that is true, by hand."""

import pytest

from bench_assets.suites.journeybench import answer_agreement
from bench_assets.suites.journeybench.answer_agreement import (
    matches_truth,
    missing_steps,
    read_answer,
)
from tests.pinned_words import survivors

AGREES = [
    ("There are no cups.", "there is not any cup", True),
    ("I see no cups.", "no cups exist", True),
    ("None of them is a cup.", "none is a cup", True),
    ("There are no cups, so 0.", "no cups", True),
    ("There are no forks.", "no cups exist", False),
    ("There are 3 cups.", "no cups exist", False),
    ("There are no cups. Answer: 12", "no cups exist", False),
    ("There are no cups at all.", "there is no cup in the image", False),
    ("A cup is there.", "there is no cup", False),
    ("No cup exists.", "there are no cups", True),
    ("I do not see a cup.", "no cup", True),
    ("Answer: 12", "12 dollars", True),
    ("Answer: twelve dollars", "12", True),
    ("Answer: 12.2", "12", False),
    ("It is red.", "red", True),
    ("It is not red.", "red", False),
    ("It is reddish.", "red", False),
    ("It is either red or blue.", "red", False),
    ("It could be red.", "red", False),
    ("Is it red?", "red", False),
    ("No cup.", "There is an absence: no cup", False),
]
SAID = [
    *(("The thing is made entirely of glass.", f"{who} made of glass", True)
      for who in ("it is", "they are", "it's", "they're", "it’s", "they’re")),
    ("Cups are there.", "the cups", True),
    ("Cup here.", "a cup", True),
    ("Eggs are there.", "an eggs", True),
    ("It has a pig, a duck and a goat.", "goat, duck and pig", True),
    ("It has a pig and a goat.", "goat, duck and pig", False),
    ("A pig.\nA duck.", "duck and pig", True),
    ("The giraffe is taller than the tree.", "the tree", False),
    ("The giraffe is taller than the tree.", "taller than the tree", True),
    *((f"It is made of glass {instead} steel.", "made of glass", True)
      for instead in ("instead of", "rather than", "as opposed to", "unlike")),
    *((f"It is made of glass {instead} not steel.", "made of glass", True)
      for instead in ("instead of", "rather than", "as opposed to", "unlike")),
    *((f"The {one} cup has more. It has 9, and the {other} cup 6.", f"the {other} cup", False)
      for pair in (("left", "right"), ("first", "second"), ("top", "bottom"), ("upper", "lower"))
      for one, other in (pair, pair[::-1])),
    ("The left one has more. The right one has 6.", "the left one", True),
]  # fmt: skip
UNSURE = [
    (response, "there is no cup", False)
    for response in (
        *("I cannot see a cup because no image was given.", "I can't tell if there is a cup."),
        *("It is not clear whether there is a cup.", "I am not sure if there is a cup."),
        *("I am not certain that there is no cup.", "I do not know if there is a cup."),
        *("There may be no cup.", "Maybe there is no cup.", "There might be no cup."),
        *("Perhaps there is no cup.", "Possibly there is no cup.", "It's unclear, not a cup?"),
        "I am unsure: no cup?",
    )
] + [
    (response, "there is no cup", True)
    for response in ("I can't see any cup.", "I am sure that there is no cup.", "No cup, no doubt.")
]
NOTHING = [
    (response, "0", False)
    for response in (
        "No idea.",
        "There is no image.",
        "No text can be read.",
        "No problem! Send it.",
    )
]
ABSENT = [
    ("No cup.", truth, True)
    for truth in ("there is no cup", "there are no cup", "no cup", "not any cup", "not a cup")
] + [
    ("Not an egg.", "not an egg", True),
    ("No egg.", "not an egg", True),
    ("No egg.", "not the egg", True),
    ("No egg.", "no egg exist", True),
    ("No egg.", "none egg, no egg", True),
]


@pytest.mark.parametrize(("response", "truth", "agreed"), AGREES + SAID + ABSENT + UNSURE + NOTHING)
def test_what_agrees_with_a_ground_truth(response, truth, agreed):
    assert matches_truth(read_answer(response, ()), truth, response) is agreed


def test_no_word_can_be_taken_out_of_what_agrees():
    steps = [
        ("3*4 = $12, 5", "=$12", []),
        ("x", "= -1,2.5", ["-1,2.5"]),
        ("It comes to 7.", "2+3=5\n5+2=7", ["5"]),
        ("First 7, then 5.", "2+3=5\n5+2=7", ["7"]),
    ]
    rows = [
        *(
            (lambda r, t: matches_truth(read_answer(r, ()), t, r), *row)
            for row in AGREES + SAID + ABSENT + UNSURE + NOTHING
        ),
        *((lambda r, solution: missing_steps(solution, r), *row) for row in steps),
        (read_answer, "The first image.", ("a", "b"), "a"),
        (read_answer, "The second image.", ("a", "b"), "b"),
    ]
    assert survivors([answer_agreement], rows, lambda row: row[0](row[1], row[2]) == row[3]) == []
