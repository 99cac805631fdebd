"""Every text a model reads in HallusionBench.

The question is asked as the authors ask it. What the two judges are asked follows the authors'
``utils.py`` and section 4.1 in substance; the wording is ours.
"""

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Question

NO_WORD = {
    "correct": (
        "That is not what was asked for. Reply with one of the words correct, incorrect and "
        "unclear, and nothing else."
    ),
    "same as about figure 0": (
        "That is not what was asked for. Reply with one of the words same and different, and "
        "nothing else."
    ),
}
"""What a judge is told whose word cannot be read, by criterion."""

_CORRECT = """\
A model has answered a question; you know the reference answer. Do the two agree?

correct: nothing in the model's answer contradicts the reference answer.
incorrect: the model's answer contradicts the reference answer.
unclear: the model's answer does not commit itself, so that one cannot tell.

Reply with one of these three words and nothing else.

Question: {question}
Reference answer: {reference}
Model's answer: {answer}"""

_SAME = """\
Here are two answers to two questions that you do not see. Taken both for true, can they stand \
beside each other?

same: nothing in the first contradicts the second.
different: they contradict each other.

Reply with one of these two words and nothing else.

First answer: {answer}
Second answer: {original}"""


def main(question: Question) -> Prompt:
    """Ask the question about its figure, if there is one, with nothing added."""
    return Prompt.of(*map(Image, question.images), question.text)


def is_correct(question: Question, answer: str) -> Prompt:
    """Ask whether an answer agrees with the reference; the judge does not see the figure."""
    reference = question.answer[-1]
    return Prompt.of(_CORRECT.format(question=question.text, reference=reference, answer=answer))


def is_same(answer: str, original: str) -> Prompt:
    """Ask whether two answers, about a figure and about figure 0 of its set, say the same."""
    return Prompt.of(_SAME.format(answer=answer, original=original))
