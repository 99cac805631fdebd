import pytest

from bench_assets.suites.cogbench.dataset import reasoning


@pytest.mark.parametrize("arrow", ["->", "-->", "→", "⇒", "=>"])
@pytest.mark.parametrize("clues", ["A. + B.", "A.+B.", "+A. + B. +", "A. +\n B."])
def test_a_chain_is_read(clues, arrow):
    assert reasoning.read_chain(f"{clues} {arrow} C.") == reasoning.Chain(("A.", "B."), "C.")


@pytest.mark.parametrize("clue", ["A c++ book.", "A. +5 books."])
def test_a_plus_within_a_clue_does_not_split_it(clue):
    assert reasoning.read_chain(f"{clue} -> C.") == reasoning.Chain((clue,), "C.")
