import pytest

from bench_assets.core.reading import rules
from bench_assets.core.reading.choices import read_choice
from bench_assets.core.reading.numbers import read_number
from bench_assets.core.reading.yes_no import read_yes_no
from tests.core.reading.examples import expected_value, read_example

RULES = rules.tables()["rule"]


def examples(section):
    """Each rule with each of its examples that it does ("yes") or does not read ("no")."""
    return [
        pytest.param(rule, example, id=f"{rule['name']}: {example['text']!r}")
        for rule in RULES
        for example in rule[section]
    ]


DUTCH = 'dutch = { answer = "antwoord", is = "luidt|is", correct = "is juist", not = "niet", yes = "ja", no = "nee" }'  # noqa: E501


@pytest.mark.parametrize(("rule", "example"), examples("yes"))
def test_a_rule_reads_its_examples(rule, example):
    reading = read_example(example)
    assert reading is not None
    assert reading.value == expected_value(example)
    start, end = reading.evidence
    assert 0 <= start < end <= len(example["text"])
    # A rule of an end or a scope only limits the text in which another rule reads.
    if example["kind"] != "grade" and rule["reads"] not in ("end", "scope"):
        assert reading.form == rule["name"]


@pytest.mark.parametrize(("_rule", "example"), examples("no"))
def test_nothing_is_read_in_the_counterexamples_of_a_rule(_rule, example):
    assert read_example(example) is None


def test_patterns_have_at_most_the_300_characters_that_the_head_of_the_file_states():
    patterns = [*rules.tables()["parts"].values(), *(rule["pattern"] for rule in RULES)]
    assert max(map(len, patterns)) <= 300


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["name"])
def test_a_rule_has_a_meaning_examples_and_counterexamples(rule):
    assert rule["meaning"].endswith(".")
    assert rule["yes"]
    assert rule["no"]


def test_the_names_of_rules_are_unique():
    assert len({rule["name"] for rule in RULES}) == len(RULES)


@pytest.fixture
def dutch(monkeypatch, tmp_path):
    """The rules with a line for Dutch."""
    cached_functions = (rules.tables, rules.rules_of, rules.part, rules._rules, rules._substitutes)
    file = tmp_path / "rules.toml"
    text = rules.RULES_FILE.read_text(encoding="utf-8")
    file.write_text(text.replace("[languages]\n", f"[languages]\n{DUTCH}\n"), encoding="utf-8")
    monkeypatch.setattr(rules, "RULES_FILE", file)
    for function in cached_functions:
        function.cache_clear()
    yield
    monkeypatch.undo()
    for function in cached_functions:
        function.cache_clear()


@pytest.mark.usefixtures("dutch")
@pytest.mark.parametrize(
    "response", ["Kijk goed. Het juiste antwoord luidt B.", "Antwoord: B", "Optie B is juist."]
)
def test_a_line_for_a_language_makes_its_choices_explicit(response):
    choice = read_choice(response, ("links", "rechts"))
    assert choice is not None
    assert (choice.value, choice.named) == ("B", False)


@pytest.mark.usefixtures("dutch")
def test_a_line_for_a_language_has_its_negation():
    assert read_choice("Het antwoord is niet B.", ("links", "rechts")) is None


@pytest.mark.usefixtures("dutch")
def test_a_line_for_a_language_reads_yes_no_and_numbers_too():
    answer, number = read_yes_no("Nee."), read_number("Het antwoord is twaalf: 12 kopjes.")
    assert answer is not None
    assert number is not None
    assert (answer.value, number.value.value) == ("no", 12)


def test_without_a_line_for_its_language_a_choice_is_only_named():
    choice = read_choice("Kijk goed. Het juiste antwoord luidt B.", ("links", "rechts"))
    assert choice is not None
    assert (choice.value, choice.named) == ("B", True)
