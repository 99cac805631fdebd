"""No word of the readers of responses can be taken out without a row of their tables noticing."""

import pytest

from bench_assets.core.parsing import choices, normalization
from bench_assets.core.parsing.choices import read_choice
from bench_assets.core.parsing.sentences import is_truncated
from tests.core.parsing.choice_words import CHOICES
from tests.core.parsing.response_words import WORDS
from tests.pinned_words import inline_words
from tests.suites.blink.test_reading import FORMS

READERS = [choices, normalization]
TABLE = [
    *WORDS,
    *CHOICES,
    *(((read_choice), form.values[:2], form.values[2]) for form in FORMS),
]


@pytest.mark.parametrize(("function", "text", "expected"), [*WORDS, *CHOICES])
def test_each_word_does_what_a_person_takes_it_for(function, text, expected):
    assert function(text) == expected


def holds(row):
    function, said, expected = row
    if function is read_choice:
        options, response = said
        return read_choice(response, options).letter == expected
    return function(said) == expected


def test_every_word_of_the_readers_can_be_found():
    assert inline_words(READERS) == []


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        pytest.param("one " * 25 + "car", True, id="26 words and no stop"),
        pytest.param("one " * 24 + "car", False, id="25 words"),
        pytest.param("one " * 25 + "car.", False, id="26 words and a stop"),
    ],
)
def test_a_long_response_without_a_stop_breaks_off(text, broken):
    assert is_truncated(text) == broken
