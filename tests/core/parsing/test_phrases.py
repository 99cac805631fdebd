"""Phrases find what one pattern of all alternatives finds."""

import re

import pytest

from bench_assets.core.parsing import option_names, option_tokens
from bench_assets.core.parsing.normalization import normalize_response
from bench_assets.core.parsing.option_names import NAMES, Options, mark_options
from bench_assets.core.parsing.phrases import Phrases
from tests.core.parsing.corpus.grammar import corpus

USED = {
    "words": option_tokens._WORDS,
    **{name: value for name, value in vars(option_names).items() if isinstance(value, Phrases)},
}


@pytest.fixture(scope="module")
def texts():
    said = [(normalize_response(one.response), tuple(one.options)) for one in corpus("today")[::5]]
    return [
        text for one, shown in said for text in (one, mark_options(one, Options(len(shown), shown)))
    ]


@pytest.mark.parametrize("name", USED)
def test_phrases_find_what_their_union_finds(name, texts):
    patterns, flags = USED[name]._patterns, USED[name]._flags
    union = "|".join(
        f"(?P<{kind}>{pattern})" if kind else pattern for kind, pattern in patterns.items()
    )
    found = re.compile(union, flags)
    for text in texts:
        expected = [(one.lastgroup, one.span()) for one in found.finditer(text)]
        assert [(one.lastgroup, one.span()) for one in USED[name].find(text)] == expected


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("ab|a", "ab a"),
        ("(?:the )?best", "the best, best"),
        (r"\bno(?:t|ne)?\b", "no not none nor"),
        (r"^\W{0,2}x|y", ". x y x"),
        (r"(?:^|\n)a", "a\na a"),
        (r"\s?b", "a b b"),
        (r"(?<=-)b|(?=c)c|(?!d)[de]", "-b c d e"),
        (r"[^\W\d_]{2,3}?x", "abx éèx x"),
        (r"(?:a|b)*c", "aabc c"),
        (r"[。;!\n…]|\.(?=\s|$)", "a. b.c! d…\n"),
        (r"(?:[*`]|__)+a", "**a __a `a"),
        (r"图\s?\d", "图1 图 2 图a"),
        (r"\w+n't", "isn't don't no"),
        ("(?-i:So)|then", "So so Then"),
        (r"x$", "x x"),
        (r"(?P<one>a)b|c\.", "ab c. cd"),
    ],
)
def test_a_pattern_is_found_wherever_it_can_begin(pattern, text):
    expected = [one.span() for one in re.finditer(pattern, text, re.IGNORECASE) if one[0]]
    assert [one.span() for one in Phrases({"": pattern}, NAMES).find(text) if one[0]] == expected


def test_matches_are_replaced():
    found = Phrases({"": r"\b(?:red|blue)\b"})
    assert found.sub(lambda one: one[0].upper(), "red, blued, Blue.") == "RED, blued, BLUE."
