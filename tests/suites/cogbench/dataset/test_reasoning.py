"""How CogBench's texts are read and compared: chains, denials, and what contradicts what."""

import pytest

from bench_assets.suites.cogbench.dataset import reasoning


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
