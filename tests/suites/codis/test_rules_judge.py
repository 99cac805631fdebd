"""What the rules read out of responses, against what a person reads (CODIS)."""

import pytest

from bench_assets.suites.codis import scoring
from tests.rows import answered

UP, YES = ("Up.", "Down."), ("Yes.", "No.")
BAG = ("Opening your bag.", "Closing your bag.")
CAR = ("In the car.", "Out of the car.")
FLIP = ("From right to left.", "From left to right.")
SIDE = ("The person on the left.", "The person on the right.")
FIT = ("Appropriate.", "Not appropriate.")
HALF = ("The first half.", "The second half.")
DAY = ("In the morning.", "In the afternoon.")
EDGE = ("Edge A.", "Edge B.")
HILL = ("A hill.", "A crater.")
CUBES = ("Seven.", "Six.")
TRAIN = ("Arriving the platform.", "Leaving the platform.")
CLOCK = (
    "6:09 (answers from 6:07 to 6:10 are all right).",
    "6:25 (answers from 6:24 to 6:26 are all right).",
)
NOON = (
    "1:00 (answers from 12:58 to 1:02 are all right).",
    "6:25 (answers from 6:24 to 6:26 are all right).",
)
CLOCK_24 = (
    "7:23 (answers from 7:22 to 7:24 are all right).",
    "19:23 (answers from 19:22 to 19:24 are all right).",
)

# The response, the two possible answers, and which of them a person would say it gives; None where
# it gives neither of them clearly.
SCORERS = [
    pytest.param("12:59", NOON, 0, id="before the hour"),
    pytest.param("It is 1:02.", NOON, 0, id="after the hour"),
    pytest.param("It is 1:02 in the afternoon.", NOON, 0, id="after the hour, of this half"),
    pytest.param("It is 1:03.", NOON, None, id="after the range"),
    pytest.param("It is 12:57.", NOON, None, id="before the range"),
    pytest.param("It is one minute to one.", NOON, 0, id="the hour before one is twelve"),
    pytest.param("It is one minute to one at night.", NOON, None, id="of the other half"),
    pytest.param("It is five to one.", NOON, None, id="to one, before the range"),
    pytest.param("Up.", UP, 0, id="the answer itself"),
    pytest.param("down", UP, 1, id="case and full stop do not count"),
    pytest.param("**Up**", UP, 0, id="bold"),
    pytest.param("“Down”", UP, 1, id="curly quotes"),
    pytest.param("The sky is below, so up it goes.\n\nDown.", UP, 1, id="the second part counts"),
    pytest.param("First down, then\nPart 2: Up.", UP, 0, id="a numbered part"),
    pytest.param("Because.\n\n2. Up", UP, 0, id="a number alone"),
    pytest.param("Thinking.\n**Answer:** Down", UP, 1, id="a label in bold"),
    pytest.param("It is not down, therefore the answer is up.", UP, 0, id="the answer is"),
    pytest.param("The stairs lead up.\n\n---\n", UP, 0, id="a ruler after the answer"),
    pytest.param("He is walking up the stairs.", UP, 0, id="inside a sentence"),
    pytest.param("He is walking upstairs.", UP, 0, id="another word for it"),
    pytest.param("Up or down.", UP, None, id="both"),
    pytest.param("It could go up; it could go down.", UP, None, id="both in two clauses"),
    pytest.param("Not up.", UP, None, id="denied"),
    pytest.param("It isn't going down.", UP, None, id="denied in short form"),
    pytest.param("Neither up nor down.", UP, None, id="neither"),
    pytest.param("Up, not down.", UP, 0, id="one and not the other"),
    pytest.param("Down rather than up.", UP, 1, id="one rather than the other"),
    pytest.param("Not up but down.", UP, 1, id="denied first, then said"),
    pytest.param("It cannot be determined whether it is up.", UP, None, id="undecided"),
    pytest.param("It is unclear, maybe up.", UP, None, id="hedged"),
    pytest.param("Up.\nThe greenery lies below the viewer.", UP, 0, id="explained afterwards"),
    pytest.param("Up.\nNo, it moves down.", UP, None, id="taken back afterwards"),
    pytest.param("Down.\nUp.", UP, None, id="two bare answers"),
    pytest.param("I see a staircase.", UP, None, id="no answer"),
    pytest.param("", UP, None, id="nothing"),
    pytest.param(" \n\t\n", UP, None, id="blanks"),
    pytest.param("Yes.", YES, 0, id="yes"),
    pytest.param("no", YES, 1, id="no"),
    pytest.param("No, he will not be fined.", YES, 1, id="no with a reason"),
    pytest.param("Yes, you can turn.", YES, 0, id="yes with a reason"),
    pytest.param("Yes it is legal here.", YES, 0, id="yes without a comma"),
    pytest.param("Therefore, yes.", YES, 0, id="yes after a connective"),
    pytest.param("My answer would be no.", YES, 1, id="no at the end"),
    pytest.param("Yes and no.", YES, None, id="yes and no"),
    pytest.param("Yes/No", YES, None, id="the options repeated"),
    pytest.param("No idea.", YES, None, id="no as another word's article"),
    pytest.param("No information is given.", YES, None, id="no information"),
    pytest.param("There is no doubt.", YES, None, id="no inside the text"),
    pytest.param("No, I cannot tell.", YES, None, id="no that decides nothing"),
    pytest.param("I would not say yes.", YES, None, id="yes denied"),
    pytest.param("No one is in danger.", YES, None, id="no one"),
    pytest.param("Opening the bag.", BAG, 0, id="the word that differs is enough"),
    pytest.param("You are closing it.", BAG, 1, id="a sentence with the word that differs"),
    pytest.param("Your bag.", BAG, None, id="only what both have"),
    pytest.param("Opening and closing.", BAG, None, id="both verbs"),
    pytest.param("The box will be in the car.", CAR, 0, id="a small word that differs"),
    pytest.param("Out of the car, as in the image.", CAR, 1, id="the small word elsewhere"),
    pytest.param("Taken away in the image.", CAR, None, id="a small word alone says nothing"),
    pytest.param("Right to left.", FLIP, 0, id="the same words in another order"),
    pytest.param("He flips it from left to right.", FLIP, 1, id="order inside a sentence"),
    pytest.param("The woman on the right.", SIDE, 1, id="another noun"),
    pytest.param("The lady on the left right now.", SIDE, 0, id="right now is no direction"),
    pytest.param("The person.", SIDE, None, id="neither side"),
    pytest.param("Appropriate.", FIT, 0, id="the answer inside the longer one"),
    pytest.param("It is not appropriate.", FIT, 1, id="the longer answer"),
    pytest.param("It is not really appropriate.", FIT, 1, id="the longer one interrupted"),
    pytest.param("Second part: the first half of the year.", HALF, 0, id="label like an option"),
    pytest.param("The second half of the year.", HALF, 1, id="more than the answer"),
    pytest.param("Afternoon.", DAY, 1, id="less than the answer"),
    pytest.param("It was taken at noon.", DAY, None, id="noon is no afternoon"),
    pytest.param("Edge A is closer.", EDGE, 0, id="a letter that is a name"),
    pytest.param("B", EDGE, 1, id="the name alone"),
    pytest.param("I see the edge.", EDGE, None, id="the noun without its name"),
    pytest.param("It is a crater.", HILL, 1, id="a letter that is an article"),
    pytest.param("7", CUBES, 0, id="a digit"),
    pytest.param("There are six cubes.", CUBES, 1, id="a number word"),
    pytest.param("6 or 7", CUBES, None, id="two digits"),
    pytest.param("The train is arriving at the platform.", TRAIN, 0, id="with a preposition"),
    pytest.param("It is 6:08.", CLOCK, 0, id="a time within the range"),
    pytest.param("6:11", CLOCK, None, id="a time outside of both ranges"),
    pytest.param("06:25", CLOCK, 1, id="a leading zero"),
    pytest.param("19:23", CLOCK_24, 1, id="an hour that ends like the other"),
    pytest.param("7:23 p.m.", CLOCK_24, 1, id="the afternoon in 12 hours"),
    pytest.param("Between 7:23 and 19:23", CLOCK_24, None, id="two times"),
]


@pytest.mark.parametrize(("response", "options", "named"), SCORERS)
def test_rules_give_a_point_to_what_a_person_reads(response, options, named):
    for gold, answer in enumerate(options):
        pair = answered(response, answer=(answer,), options=options)
        (judgement,) = scoring.judge_by_rules([pair])
        assert judgement.verdict is (gold == named)
        said = "neither" if named is None else repr(options[named])
        assert judgement.response.startswith(f"names {said}")
