"""Problems of GSM8K are solved again with other numbers, or not at all."""

import json
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.journeybench.mcot.problems import (
    Problem,
    Solution,
    read_problems,
    replacement_fault,
    solve,
)

APPLES = Problem(
    problem_id="apples",
    question="Ann has 5 apples. She buys twice as many, and each costs 3 dollars. What is paid?",
    solution="She buys 5*2=<<5*2=10>>10 apples.\nThey cost 10*3=<<10*3=30>>30 dollars.",
    answer="30",
)


FIELDS = ("question", "solution", "answer")


def problem(question, solution, answer):
    return Problem(problem_id="p", question=question, solution=solution, answer=answer)


@pytest.mark.parametrize(
    ("instead", "solution"),
    [
        pytest.param({}, Solution("5*2 = 10\n10*3 = 30", 30.0), id="as written"),
        pytest.param({5: 7}, Solution("7*2 = 14\n14*3 = 42", 42.0), id="another number of apples"),
        pytest.param({5: 0}, Solution("0*2 = 0\n0*3 = 0", 0.0), id="no apples"),
        pytest.param({5: 7, 3: 4}, Solution("7*2 = 14\n14*4 = 56", 56.0), id="two other numbers"),
        pytest.param({8: 9}, None, id="a number that no calculation uses"),
        pytest.param({10: 9}, None, id="a result, which is no number of the text"),
    ],
)
def test_a_problem_is_solved_again(instead, solution):
    assert solve(APPLES, instead) == solution


@pytest.mark.parametrize(
    ("question", "steps", "answer"),
    [
        pytest.param(
            "4 boys have 2 balls each, 8 girls none. Balls and girls?",
            "<<4*2=8>>8, <<8+8=16>>16",
            "16",
            id="a result that is a number of the text as well",
        ),
        pytest.param("4 and 2?", "<<4*2=8>>8", "9", id="calculations that miss the answer"),
        pytest.param("4 and 2?", "4*2=8", "8", id="no calculations in brackets"),
        pytest.param("4 and 2?", "<<4**2=16>>16", "16", id="more than sums and products"),
        pytest.param("4 and 2?", "<<__import__=16>>16", "16", id="something that is no number"),
        pytest.param("4 and 2?", "<<4*=8>>8", "8", id="a broken calculation"),
    ],
)
def test_what_cannot_be_told_is_not_solved(question, steps, answer):
    assert solve(problem(question, steps, answer), {4: 5}) is None


def test_nothing_is_divided_by_what_is_not_there():
    shared = problem("12 cakes a day for 4 people?", "People get <<12/4=3>>3 cakes.", "3")
    assert solve(shared, {4: 0}) is None
    assert solve(shared, {4: 5}) == Solution("12/5 = 2.4", 2.4)


def write(folder, question, answer):
    file = folder / "gsm8k.jsonl"
    file.write_text(json.dumps({"question": question, "answer": answer}))
    return file


def test_the_final_line_is_the_answer_and_the_text_makes_the_id(tmp_path):
    (read,) = read_problems(
        write(tmp_path, "How many?", "<<600*2=1200>>1200\n#### 1,200")
    ).require()
    assert (read.solution, read.answer) == ("<<600*2=1200>>1200", "1,200")
    (other,) = read_problems(write(tmp_path, "How much?", "#### 1")).require()
    assert read.problem_id != other.problem_id


@pytest.mark.parametrize("answer", ["12", "#### ", "#### a dozen"])
def test_an_answer_without_a_result_is_an_error(tmp_path, answer):
    with pytest.raises(SourceError, match=r"line 1: the answer does not end in '#### '"):
        read_problems(write(tmp_path, "How many?", answer)).require()


USUAL = [  # a number, and words that bring it along unsaid
    *((number, "Nobody says why.") for number in (2, 7, 12)),
    *((3, f"It is {word}.") for word in ("tripled", "thrice as much", "three times it", "a third")),
    (3, "It is a yard long."),
    *((3, f"It is {word}.") for word in ("a triangle", "triangular", "a tricycle")),
    *((3, f"It is {word}.") for word in ("a trio", "a trilogy", "triplets", "a tripod")),
    *((4, f"It is {word}.") for word in ("a square", "squares", "a rectangle", "a violin")),
    *((4, f"It is {word}.") for word in ("a quartet", "a foursome", "the season", "a suit")),
    *((5, f"It is {word}.") for word in ("a quintet", "a pentathlon", "basketball", "a vowel")),
    *((6, f"It is {word}.") for word in ("a sextet", "volleyball", "hockey")),
    *((8, f"It is {word}.") for word in ("an octet", "octuplets", "a planet")),
    *((9, f"It is {word}.") for word in ("a nonet", "baseball", "an inning", "a planet")),
    *((10, f"It is {word}.") for word in ("a decathlon", "a commandment", "bowling")),
    *((13, f"It is {word}.") for word in ("a suit", "a card", "a stripe")),
    *((14, f"It is {word}.") for word in ("a fortnight", "a sonnet")),
    *((5, f"It is {word}.") for word in ("a pentagon", "a pentagram", "a star", "stars")),
    *((6, f"It is {word}.") for word in ("a hexagon", "a cube", "cubes", "dice", "a guitar")),
    (8, "It is an octagon."),
    *((4, f"It is {word}.") for word in ("a quarter", "quadrupled", "four times it", "a fourth")),
    *((4, f"It has {word}.") for word in ("a leg", "legs", "wheels", "a month", "a gallon")),
    *((5, f"It is {word}.") for word in ("a nickel", "a weekday", "a workday", "a work day")),
    *((5, f"It is {word}.") for word in ("a school day", "a fifth", "a finger", "a toe", "toes")),
    *((6, f"It is {word}.") for word in ("an insect", "a leg", "legs")),
    *((8, f"It is {word}.") for word in ("a spider", "an octopus", "a leg", "an eighth")),
    *((10, f"It is {word}.") for word in ("a dime", "a decade", "a percent", "a tenth")),
    *((10, f"It is {word}.") for word in ("a finger", "a toe", "toes")),
    *((16, f"It is {word}.") for word in ("a pound", "an ounce")),
    *((20, f"It is {word}.") for word in ("scores of", "a score of", "a percent")),
]


@pytest.mark.parametrize(("number", "words"), USUAL)
def test_a_number_that_may_go_without_saying_is_left_where_it_is(number, words):
    total = number + 11
    steps = f"<<{number}+11={total}>>{total}"
    asked = problem(f"Ann has {number} pies. {words} 11 more?", steps, str(total))
    assert replacement_fault(asked, number) == f"{number} may be a number that goes without saying"
    assert solve(asked, {number: number + 1}) is None


@pytest.mark.parametrize(
    ("number", "words"),
    [
        pytest.param(3, "Bo sees a half moon.", id="words that bring another number along"),
        pytest.param(4, "Bo is legal.", id="a word that only begins like one"),
        pytest.param(9, "In a week Bo twice sees legs.", id="a number that nothing brings"),
    ],
)
def test_a_number_that_only_the_text_gives_is_clear(number, words):
    step = f"Pies and cakes: <<{number}+11=99>>99"
    asked = problem(f"Ann has {number} pies. {words} 11 cakes?", step, "99")
    assert replacement_fault(asked, number) == ""


RESULTS = [  # what a changed result may be besides, and words that bring that along unsaid
    *((2, f"It is {word}.") for word in ("twice", "doubled", "a half", "halved", "a pair")),
    *((2, f"It is {word}.") for word in ("a couple", "both")),
    *((7, f"It is {word}.") for word in ("a week", "a day", "days", "daily")),
    *((12, f"It is {word}.") for word in ("dozens", "a year", "annual", "a month", "a foot")),
    *((12, f"It is {word}.") for word in ("feet", "an inch")),
    *((24, f"It is {word}.") for word in ("a day", "days", "daily", "an hour")),
    (30, "It is a month."),
    (31, "It is a month."),
    (36, "It is a yard."),
    *((50, f"It is {word}.") for word in ("a half", "halved", "a percent")),
    *((52, f"It is {word}.") for word in ("a week", "a year")),
    *((60, f"It is {word}.") for word in ("an hour", "a minute", "a second")),
    *((100, f"It is {word}.") for word in ("a percent", "a cent", "cents", "a century")),
    *((100, f"It is {word}.") for word in ("a dollar", "a meter", "a metre")),
    *((365, f"It is {word}.") for word in ("a year", "daily", "a day", "days")),
]


@pytest.mark.parametrize(("result", "words"), RESULTS)
def test_a_changed_result_that_may_be_another_number_ends_the_calculation(result, words):
    more = f"and eats {9 - result} of" if result < 9 else f"and bakes {result - 9} of"
    steps = (
        f"Pies that she bakes or eats: <<9{result - 9:+}={result}>>{result}.\n"
        f"At their cost in coins: <<{result}*8={8 * result}>>{8 * result}"
    )
    text = f"Ann has 9 pies {more} them. They cost 8 coins each."
    asked = problem(f"{text} {words}", steps, str(8 * result))
    assert solve(asked, {9: 9}) is not None, "with the same number both are the same"
    assert solve(asked, {9: 11}) is None
    silent = problem(text, steps, str(8 * result))
    assert solve(silent, {9: 11}).answer == 8 * (result + 2)


BY_HAND = [  # text, calculations, answer; then its number, what is imaged, what is right
    pytest.param(
        ("Ann has 2 cats, Bo has twice as many. And both?", "<<2*2=4>>4, <<2+4=6>>6", "6"),
        (2, 9, None),
        id="two cats and twice: 27, and never 90",
    ),
    pytest.param(
        ("Ann has 4 cats, Bo has twice as many. And Bo?", "Bo's cats: <<4*2=8>>8", "8"),
        (4, 9, 18.0),
        id="four cats and twice",
    ),
    pytest.param(
        ("7 hens lay 3 eggs a day each. And in a week?", "<<7*3=21>>21, <<21*7=147>>147", "147"),
        (7, 5, None),
        id="seven hens and a week",
    ),
    pytest.param(
        ("7 hens look on while Ann eats 3 eggs a day. And in a week?", "<<3*7=21>>21", "21"),
        (7, 5, None),
        id="a week's seven, and seven hens that nothing is done with",
    ),
    pytest.param(
        (
            "5 hens lay 3 eggs a day each. And in a week?",
            "The hens lay <<5*3=15>>15 eggs.\nIn a week: <<15*7=105>>105",
            "105",
        ),
        (5, 9, 189.0),
        id="five hens and a week",
    ),
    pytest.param(
        ("12 men pay 5 dollars a month. And in a year?", "<<12*5=60>>60, <<60*12=720>>720", "720"),
        (12, 4, None),
        id="twelve men and a year",
    ),
    pytest.param(
        ("Ann has 8 pies, eats 3, and Bo 5 times what is left.", "Pies she eats: <<8-3=5>>5", "5"),
        (8, 9, None),
        id="a number of the text that no step has",
    ),
    pytest.param(
        (
            "8 kids go out. Each car seats 4 and costs 6 dollars.",
            "The kids need cars: <<8/4=2>>2\nIn dollars they cost <<2*6=12>>12",
            "12",
        ),
        (8, 10, None),
        id="two cars and a half",
    ),
    pytest.param(
        (
            "8 kids go out. Each car seats 4 and costs 6 dollars.",
            "The kids need cars: <<8/4=2>>2\nIn dollars they cost <<2*6=12>>12",
            "12",
        ),
        (8, 12, 18.0),
        id="three cars",
    ),
    pytest.param(
        ("Ann has 5 pies and bakes 5 more.", "<<5+5=10>>10", "10"),
        (5, 9, None),
        id="the same number twice in one calculation",
    ),
    pytest.param(
        (
            "Ann has 26 apples and 5 bags. Each bag holds 4 apples. How many do not fit?",
            "The bags hold <<5*4=20>>20 apples.\nThose that do not fit: <<26-20=6>>6 apples",
            "6",
        ),
        (5, 8, None),
        id="more room than there are apples",
    ),
    pytest.param(
        (
            "Mark has 50 dollars. He wants 3 shirts for 12 dollars each. What is left?",
            "The shirts cost <<3*12=36>>36 dollars.\nHe has <<50-36=14>>14 dollars left.",
            "14",
        ),
        (3, 5, None),
        id="more shirts than he can pay",
    ),
    pytest.param(
        ("Of 9 pies 3 go to each of the boys.", "<<9/3=3>>3", "3"),
        (3, 4, None),
        id="a number that is a result as well",
    ),
    pytest.param(
        ("Ann has 3 rows of 4 pies, and squares them.", "<<3*4=12>>12, <<12*12=144>>144", "144"),
        (3, 5, None),
        id="a result twice in one calculation",
    ),
    pytest.param(
        ("Ann has 9 pies, sells 6 and buys 20.", "<<9-6=3>>3, <<3+20=23>>23", "23"),
        (9, 4, None),
        id="fewer than none in between",
    ),
    pytest.param(
        (
            "Ann has 9 pies, sells 6 and bakes 20.",
            "Pies, as she sells some: <<9-6=3>>3\nAnd as she bakes others: <<3+20=23>>23",
            "23",
        ),
        (9, 11, 25.0),
        id="more than none in between",
    ),
]


TRAPS = json.loads(Path(__file__).with_name("recalculation_traps.json").read_text("utf-8"))
"""Problems whose answers with the other number were worked out by hand; null: there is none."""


def recalculated(row):
    solved = solve(
        problem(row["question"], row["solution"], row["answer"]), {row["number"]: row["imaged"]}
    )
    return solved.answer if solved else None


@pytest.mark.parametrize("row", [pytest.param(row, id=row["question"][:50]) for row in TRAPS])
def test_a_replaced_number_gives_the_gold_of_a_person_or_none(row):
    assert recalculated(row) in (None, row["right"])


def test_of_the_traps_each_is_refused_with_a_reason_and_of_the_sound_ones_none():
    assert len(TRAPS) >= 60
    refused = [recalculated(row) is None for row in TRAPS]
    assert refused == [row["trap"] for row in TRAPS]
    reasons = [
        replacement_fault(problem(*(row[k] for k in FIELDS)), row["number"]) for row in TRAPS
    ]
    assert [bool(reason) for reason in reasons] == refused


@pytest.mark.parametrize(("written", "shown"), BY_HAND)
def test_golds_that_were_calculated_by_hand(written, shown):
    said, imaged, right = shown
    solved = solve(problem(*written), {said: imaged})
    assert (solved.answer if solved else None) == right
