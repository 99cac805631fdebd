import pytest

from bench_assets.suites.blink.builders.drafts import (
    POINTS,
    SECOND_OR_THIRD,
    DraftView,
    placed,
    wording,
)

# Characters of each prompt of the release, from the statistics that evalscope publishes, without
# the instruction that it puts in front (180, 182 or 184 characters for 2, 3 or 4 options).
LENGTHS = {
    "Art_Style": (SECOND_OR_THIRD, 553 - 180),
    "Forensic_Detection": (
        ("the first image", "the second image", "the third image", "the fourth image"),
        480 - 184,
    ),
    "Jigsaw": (SECOND_OR_THIRD, 543 - 180),
    "Multi-view_Reasoning": (("left", "right"), 549 - 180),
    "Relative_Depth": (("A is closer", "B is closer"), 359 - 180),
    "Relative_Reflectance": (("A is darker", "B is darker", "About the same"), 498 - 182),
    "Semantic_Correspondence": (POINTS, 952 - 184),
    "Visual_Correspondence": (POINTS, 587 - 184),
    "Visual_Similarity": (SECOND_OR_THIRD, 414 - 180),
}


@pytest.mark.parametrize("task", sorted(LENGTHS))
def test_prompts_are_as_long_as_those_of_the_release(task):
    options, length = LENGTHS[task]
    asked = wording(task, **({"colour": "red"} if "Corresp" in task else {}))
    assert len(DraftView(asked=asked, images=(), options=options).prompt) == length


def test_a_question_about_braces_is_left_as_it_is():
    asked = wording("Counting", question="How many {braces} are there?")
    assert asked.question == "How many {braces} are there?"


@pytest.mark.parametrize(
    ("place", "expected"),
    [(0, ("r", "a", "b")), (1, ("a", "r", "b")), (2, ("a", "b", "r"))],
)
def test_the_right_option_is_placed_among_the_others(place, expected):
    assert placed("r", ("a", "b"), place) == expected
