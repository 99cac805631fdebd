"""The authors' rules and the careful scorer on one table of responses, read by a person."""

import json
from pathlib import Path

import pytest

from bench_assets.core.reading.choices import read_choice
from bench_assets.suites.blink import scoring
from bench_assets.suites.blink.scoring import official_option
from tests.pinned_words import inline_words, survivors

OPTIONS = {
    "second_or_third": ("the second image", "the third image"),
    "points": ("Point A", "Point B", "Point C", "Point D"),
    "left_right": ("left", "right"),
    "yes_no": ("yes", "no"),
    "numbers": ("1", "2", "3", "4"),
    "reflectance": ("A is darker", "B is darker", "About the same"),
}
# response, what a person reads in it (null: no one option), what the authors' rules read
FORMS = [
    pytest.param(OPTIONS[options], *form, id=f"{options}: {form[0]!r}")
    for options, forms in json.loads(
        Path(__file__).with_name("response_forms.json").read_text(encoding="utf-8")
    ).items()
    for form in forms
]


@pytest.mark.parametrize(("options", "response", "person", "rules"), FORMS)
def test_the_careful_reading_is_a_persons_or_none(options, response, person, rules):
    found = read_choice(response, options, named=False)
    assert found is None or found.value == person or found.disputed


@pytest.mark.parametrize(("options", "response", "person", "rules"), FORMS)
def test_the_official_rules_are_the_authors(options, response, person, rules):
    assert official_option(response, len(options)) == (rules and f"({rules})")


def test_the_table_is_long_enough_to_measure_on():
    wrong = [form.values[1] for form in FORMS if form.values[3] not in (None, form.values[2])]
    unread = [form for form in FORMS if form.values[2] and not form.values[3]]
    assert len(FORMS) >= 60
    # What the authors' rules get wrong is what a judge is then not asked about.
    assert len(wrong) == 5
    assert len(unread) > len(FORMS) / 2


def test_no_word_of_the_authors_rules_can_be_taken_out_unnoticed():
    scorers = [("ABCDE", f"({letter})", 4, f"({letter})") for letter in "ABCDE"]
    scorers += [("bare", letter, 4, f"({letter})") for letter in "ABCDE"]
    scorers += [("beside", f"It is ({letter}) here", 4, f"({letter})") for letter in "ABCD"]
    assert survivors([scoring], scorers, lambda row: official_option(*row[1:3]) == row[3]) == []
    assert inline_words([scoring, scoring]) == []
