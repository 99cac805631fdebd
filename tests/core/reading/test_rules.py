"""The rules: every example of the file, their limits, and the time that they take."""

import time

import pytest

from bench_assets.core.judging.verdicts import RIGHT_OR_WRONG, read_grade, read_word
from bench_assets.core.reading import rules
from bench_assets.core.reading.blanks import read_blanks
from bench_assets.core.reading.choices import read_choice, read_choices
from bench_assets.core.reading.numbers import read_number
from bench_assets.core.reading.yes_no import read_yes_no
from tests.core.reading.examples import read_example, value_of
from tests.fakes.any_responses import BITS, response_of

RULES = rules.tables()["rule"]
EXAMPLES = [
    pytest.param(rule, side, example, id=f"{rule['name']}, {side}: {example['text']!r}")
    for rule in RULES
    for side in ("yes", "no")
    for example in rule[side]
]
READERS = {
    "choice": lambda text: read_choice(text, ("left", "right")),
    "choices": lambda text: read_choices(text, ("left", "right", "up")),
    "number": read_number,
    "yes_no": read_yes_no,
    "blanks": lambda text: read_blanks(text, 3),
    "word": lambda text: read_word(text, RIGHT_OR_WRONG),
    "grade": lambda text: read_grade(text, 1, 5),
}
LOOPS = ("answer is ", "is correct ", "A\n", "\nQ:", "</s>", "<answer>", '"answer": ', "\\boxed{")
LENGTHS = 3_000, 12_000  # characters
GROWTH = 9  # four times as long may take nine times as long; quadratic takes sixteen
LEAST = 0.05  # s; what takes less says nothing about growth
DUTCH = 'dutch = { answer = "antwoord", is = "luidt|is", correct = "is juist", not = "niet", yes = "ja", no = "nee" }'  # noqa: E501


@pytest.mark.parametrize(("rule", "side", "example"), EXAMPLES)
def test_a_rule_reads_what_its_examples_say(rule, side, example):
    reading = read_example(example)
    if side == "yes":
        assert reading is not None
        assert reading.value == value_of(example)
        start, end = reading.evidence
        assert 0 <= start < end <= len(example["text"])
        assert reading.form == rule["name"] or rule["reads"] in ("end", "scope") or not reading.form
    else:
        assert reading is None


def test_the_rules_keep_their_size():
    texts = [*rules.tables()["parts"].values(), *(rule["pattern"] for rule in RULES)]
    assert len(RULES) <= 25
    assert max(map(len, texts)) <= 300
    assert all(rule["meaning"].endswith(".") and rule["yes"] and rule["no"] for rule in RULES)
    assert len({rule["name"] for rule in RULES}) == len(RULES)


@pytest.fixture
def dutch(monkeypatch, tmp_path):
    """The rules with one more line."""
    cached = (rules.tables, rules.rules_of, rules.part, rules._rules, rules._substitutes)
    file = tmp_path / "rules.toml"
    text = rules.RULES_FILE.read_text(encoding="utf-8")
    file.write_text(text.replace("[languages]\n", f"[languages]\n{DUTCH}\n"), encoding="utf-8")
    monkeypatch.setattr(rules, "RULES_FILE", file)
    for function in cached:
        function.cache_clear()
    yield
    monkeypatch.undo()
    for function in cached:
        function.cache_clear()


@pytest.mark.usefixtures("dutch")
def test_a_language_is_one_line():
    texts = ("Kijk goed. Het juiste antwoord luidt B.", "Antwoord: B", "Optie B is juist.")
    for text in texts:
        choice = read_choice(text, ("links", "rechts"))
        assert choice is not None
        assert (choice.value, choice.named) == ("B", False)
    assert read_choice("Het antwoord is niet B.", ("links", "rechts")) is None
    answer, number = read_yes_no("Nee."), read_number("Het antwoord is twaalf: 12 kopjes.")
    assert answer is not None
    assert number is not None
    assert (answer.value, number.value.value) == ("no", 12)


def test_a_language_without_its_line_is_requested():
    choice = read_choice("Kijk goed. Het juiste antwoord luidt B.", ("links", "rechts"))
    assert choice is None or choice.named


def seconds(read, text):
    start = time.process_time()
    read(text)
    return time.process_time() - start


@pytest.mark.parametrize("name", READERS)
def test_time_is_in_proportion_to_the_response(name):
    read, (short, long) = READERS[name], LENGTHS
    slow = [
        bit
        for bit in (*BITS.values(), *LOOPS)
        if (taken := seconds(read, response_of(bit, long))) > LEAST
        and taken > GROWTH * seconds(read, response_of(bit, short))
    ]
    assert slow == []
