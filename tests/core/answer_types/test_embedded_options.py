"""Options inside a text, as benchmarks print them."""

import pytest

from bench_assets.core.answer_types.options import split_options


@pytest.mark.parametrize(
    ("text", "left", "options"),
    [
        pytest.param("(a) Open (b) Closed", "", ("Open", "Closed"), id="MMVP"),
        pytest.param(
            "Which one?\nOptions: A: on the book., B: in it., C: gone.",
            "Which one?",
            ("on the book.", "in it.", "gone."),
            id="MMStar",
        ),
        pytest.param(
            "Which way?\n\nA. Left\nB. Right\n\nPlease answer with the letter.",
            "Which way?\n\nPlease answer with the letter.",
            ("Left", "Right"),
            id="RealWorldQA",
        ),
        pytest.param(
            "(A) red\n(B) (A) and more", "", ("red", "(A) and more"), id="a repeated mark"
        ),
        pytest.param("Vitamin A: good?\nA. yes\nB. no", "Vitamin A: good?", ("yes", "no"), id="A"),
        pytest.param("Is it (a)?", "Is it (a)?", (), id="one mark"),
        pytest.param("(b) x (c) y", "(b) x (c) y", (), id="none from A on"),
        pytest.param("(a) (b) y", "(a) (b) y", (), id="an empty one"),
        pytest.param("How many?", "How many?", (), id="none"),
    ],
)
def test_options_are_taken_out(text, left, options):
    assert split_options(text) == (left, options)
