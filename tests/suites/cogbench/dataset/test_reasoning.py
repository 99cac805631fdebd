"""How CogBench's texts are read and compared: chains, denials, and what contradicts what."""

import pytest

from bench_assets.suites.cogbench.construction import merging
from bench_assets.suites.cogbench.dataset import reasoning
from bench_assets.suites.cogbench.description import recognition


@pytest.mark.parametrize("arrow", ["->", "-->", "→", "⇒", "=>"])
@pytest.mark.parametrize("clues", ["A. + B.", "A.+B.", "+A. + B. +", "A. +\n B."])
def test_a_chain_is_read(clues, arrow):
    assert reasoning.read_chain(f"{clues} {arrow} C.") == reasoning.Chain(("A.", "B."), "C.")


@pytest.mark.parametrize("clue", ["A c++ book.", "A. +5 books."])
def test_a_plus_within_a_clue_parts_nothing(clue):
    assert reasoning.read_chain(f"{clue} -> C.") == reasoning.Chain((clue,), "C.")


@pytest.mark.parametrize("text", ["None.", "", "[none]"])
def test_no_chain_is_none(text):
    assert reasoning.is_none(text)


def test_words_are_compared_by_their_stems_without_small_ones():
    assert reasoning.content_words("the boys are painting with watches") == {
        *("boy", "paint", "watch")
    }


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("There is no boy near a dog.", "There is near a dog."),
        ("There is no boy. A dog.", "There is . A dog."),
        ("I see the absence of boys.", "I see the ."),
        ("It isn’t a boy.", "It is ."),
        ("There are no boys, men or girls.", "There are ."),
        ("The boy is not there.", "The ."),
        ("Without doubt a boy.", "Without doubt a boy."),
        ("He is no longer a boy.", "He is no longer a boy."),
    ],
)
def test_what_is_denied_is_taken_off(text, rest):
    assert " ".join(recognition.remove_denied(text).split()) == rest


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        ("It is give.", "It is take.", "one says the opposite"),
        ("The boy falls.", "The boy does not fall.", "one denies"),
        ("The three books.", "The 11 books.", "other numbers"),
        ("Dogs are near, together, cats.", "Cats are near, together, dogs.", ""),
    ],
)
def test_texts_that_contradict_each_other(first, second, difference):
    assert merging.contradiction(first, second) == difference
