"""The order in which the options of a question are shown."""

from dataclasses import replace
from random import Random

from bench_assets.suites.cogbench.select import question_id
from bench_assets.suites.cogbench.source import SourceQuestion

_LETTERS = "ABCD"


def deal_letters(question: SourceQuestion, seed: int) -> SourceQuestion:
    """Draw the order of options anew, for each question by itself.

    Models that are told to draw the right letter at random prefer some.
    """
    rng = Random(f"{seed}\n{question_id(question)}")
    right = question.options[_LETTERS.index(question.answer)]
    # Sorted first, so that the draw does not depend on the order in which they were written.
    options = sorted(question.options)
    rng.shuffle(options)
    return replace(question, options=tuple(options), answer=_LETTERS[options.index(right)])
