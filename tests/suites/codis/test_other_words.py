"""Every word of ``opposites.txt``, in a response that needs it: ``other_words.txt``."""

from pathlib import Path

import pytest

from bench_assets.suites.codis.parsing import words
from bench_assets.suites.codis.parsing.answers import named_option

YES, NO = "Yes.", "No."


def rows(section):
    text = Path(__file__).with_name("other_words.txt").read_text(encoding="utf-8")
    _, _, body = text.partition(f"== {section}\n")
    for line in body.partition("\n\n")[0].splitlines():
        head, _, words = line.partition(": ")
        yield head, *(side.strip().split(", ") for side in words.split(" | "))


@pytest.mark.parametrize(
    ("answers", "first", "second"), rows("names"), ids=[row[0] for row in rows("names")]
)
def test_other_words_name_an_answer(answers, first, second):
    options = tuple(f"{answer.capitalize()}." for answer in answers.split(" / "))
    found = {word: named_option("Which?", f"It is {word}.", options) for word in (*first, *second)}
    assert found == dict.fromkeys(first, options[0]) | dict.fromkeys(second, options[1])


@pytest.mark.parametrize(
    ("asked", "same", "opposite"), rows("judgements"), ids=[row[0] for row in rows("judgements")]
)
def test_other_words_answer_with_yes_or_no(asked, same, opposite):
    question = f"Is it {asked}?"
    found = {word: named_option(question, f"It {word}.", (YES, NO)) for word in (*same, *opposite)}
    assert found == dict.fromkeys(same, YES) | dict.fromkeys(opposite, NO)
    denied = {word: named_option(question, f"Not {word}.", (YES, NO)) for word in same}
    assert set(denied.values()) <= {NO, None}


def test_each_word_of_the_list_stands_in_a_row():
    """Of a pair of sides, every word of either side answers for it in a row of its own."""
    for section in ("names", "judgements"):
        said = {word for row in rows(section) for words in row for word in _words(words)}
        assert _written(section) - said == set()


def _words(cell):
    return cell.split(" / ") if isinstance(cell, str) else cell


def _written(section):
    text = Path(words.__file__).with_name("opposites.txt").read_text(encoding="utf-8")
    _, _, body = text.partition(f"== {section}\n")
    lines = body.partition("\n\n")[0].replace("|", " ").split()
    return {word.removeprefix("=").replace("_", " ") for word in lines}


def test_what_is_not_possible_is_not_allowed():
    assert named_option("Can I turn here?", "It is not possible.", (YES, NO)) == NO
