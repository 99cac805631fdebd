"""No word by which CODIS' rules read responses can be taken out without a row noticing."""

import pytest

from bench_assets.suites.codis.parsing import alternatives, answers, clock, polarity, words
from tests.pinned_words import inline_words, survivors
from tests.suites.codis.reader_words import WORDS

READERS = [clock, answers, words, alternatives, polarity]


def holds(row):
    function, given, expected = row
    return function(*given) == expected


def test_each_word_does_what_a_person_takes_it_for():
    assert [row for row in WORDS if not holds(row)] == []


def test_of_some_words_of_the_readers_none_can_be_taken_out():
    assert survivors(READERS, WORDS, holds, n=20) == []


@pytest.mark.long
def test_no_word_of_the_readers_can_be_taken_out():
    assert survivors(READERS, WORDS, holds) == []


def test_every_word_of_the_readers_can_be_found():
    assert inline_words(READERS) == []
