"""The tool that pins words, on a reader of a few lines."""

import re
from types import ModuleType

import pytest

from tests.fakes import words_inside
from tests.fakes.pinned_words import inline_words, survivors
from tests.fakes.words_of_patterns import branches


def reader(words: str, says: str) -> ModuleType:
    """A module with some words and a function ``says(text)`` that uses them."""
    module = ModuleType("bench_assets.reader")
    exec(f"import re\n{words}\ndef says(text):\n    return {says}\n", vars(module))
    return module


@pytest.mark.parametrize(
    ("words", "says", "texts", "left"),
    [
        pytest.param(
            r"W = re.compile(r'\b(?:no|not)\b')",
            "bool(W.search(text))",
            ["no", "not"],
            [],
            id="a row for each branch",
        ),
        pytest.param(
            r"W = re.compile(r'\b(?:no|not|never)\b')",
            "bool(W.search(text))",
            ["no", "not"],
            ["'never'"],
            id="a branch without a row",
        ),
        pytest.param(
            "W = re.compile('a(b)|c(d)')",
            "bool((m := W.fullmatch(text)) and (m[1] or m[2]))",
            ["ab"],
            ["'c(d)'"],
            id="groups keep their numbers",
        ),
        pytest.param(
            "W = re.compile('第[张幅A-Z]')",
            "bool(W.match(text))",
            ["第张", "第A"],
            ["'幅'"],
            id="a letter that a class lists",
        ),
        pytest.param(
            "W = {'one': '1', 'two': '2'}", "W.get(text) == '2'", ["two"], ["'one'"], id="a dict"
        ),
        pytest.param(
            "W = frozenset(('a', 'an', 'the'))", "text in W", ["an", "a"], ["'the'"], id="a set"
        ),
        pytest.param(
            "W = (('x', re.compile('a|b')), ('y', re.compile('c')))",
            "any(p.match(text) for _, p in W)",
            ["a", "c"],
            ["'b'"],
            id="patterns in pairs",
        ),
        pytest.param("U = ('a', 'b')\nW = 1", "W == 1", ["a"], [], id="words nobody uses"),
    ],
)
def test_what_can_be_taken_out_unnoticed(
    words: str, says: str, texts: list[str], left: list[str]
) -> None:
    module = reader(words, says)
    found = survivors([module], texts, module.says)
    assert [what.partition("without ")[2].partition(" in ")[0] for what in found] == left


def test_a_table_that_fails_to_begin_with_pins_nothing() -> None:
    module = reader("W = ('a',)", "text in W")
    with pytest.raises(AssertionError, match=r"1 cases do not hold to begin with: \['b'\]"):
        survivors([module], ["a", "b"], module.says)


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        pytest.param("abc", [], id="no alternation"),
        pytest.param("a|b", ["a", "b"], id="at the top"),
        pytest.param("(?i)a|b", ["a", "b"], id="after flags"),
        pytest.param("x(?:a|b(?P<n>c|d))", ["a", "b(?P<n>c|d)", "c", "d"], id="within a branch"),
        pytest.param(r"a\||[|)]", [r"a\|", "[|)]"], id="escapes and classes are no alternations"),
        pytest.param("(?<=a|b)(?!c|d)(?i:e|f)", [*"abcdef"], id="looking around"),
        pytest.param("[]|](?:a|)", ["a", ""], id="an empty branch"),
    ],
)
def test_branches_of_a_pattern(pattern: str, parts: list[str]) -> None:
    assert [pattern[start:end] for start, end in branches(pattern)] == parts
    for start, _ in branches(pattern):
        re.compile(f"{pattern[:start]}(?!){pattern[start:]}")


def test_words_inside_of_functions_are_named() -> None:
    assert [line.split(":")[0] for line in inline_words([words_inside])] == [
        f"tests.fakes.words_inside, line {line}" for line in (7, 11, 15)
    ]
