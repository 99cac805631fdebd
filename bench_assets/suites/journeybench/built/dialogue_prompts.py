"""What is read in the dialogues about a picture (section 3.3); the wording is ours.

Who speaks when, what each is shown, and the marks by which replies are read are those of IdealGPT
(You et al., 2023), on which the paper builds. The line "Statement:" is added: it is what may
become a distractor.
"""

from collections.abc import Sequence
from typing import NamedTuple

from bench_assets.core.chat import Image, Prompt

OPTIONS = ("entailment", "neutral", "contradiction")

_ASK = (
    "You cannot see a picture, but you can have questions about it answered by someone who can. "
    "You want to find out whether a hypothesis about the picture holds. Ask short questions, each "
    'of which can be understood without the others, begins with "What" and asks for one thing. '
    'Print each on a line of its own, after "Sub-question 1:", "Sub-question 2:" and so on.'
)
_ASK_MORE = (
    f"{_ASK} Some questions were answered already, and an analysis says what is still open. Ask "
    'only for what is still open, after "Additional Sub-question 1:" and so on.'
)
_REASON = (
    "You cannot see a picture. From a caption that may be wrong, and from questions about the "
    "picture with answers that may be wrong, decide whether the picture supports a hypothesis. "
    'Print three lines and nothing else. "Analysis:" and what speaks for and against it. '
    '"Statement:" and one sentence that describes the picture as the answers do, in the style of '
    'the hypothesis. "More Likely Answer:" and one of: entailment, neutral, contradiction'
)
_OR_UNSURE = ', or "We are not sure which option is correct" if the answers do not suffice.'
_DECIDE = ". Decide for one of them, even if you are not sure."


class Exchange(NamedTuple):
    """A question about the picture, and what the answerer said."""

    question: str
    answer: str


def first_questions(caption: str) -> Prompt:
    """Ask what to ask about a picture of which only the caption is known."""
    return Prompt.of(_known(caption), system=_ASK)


def more_questions(caption: str, exchanges: Sequence[Exchange], analysis: str) -> Prompt:
    """Ask what else to ask, after an analysis that could not decide."""
    known = f"{_known(caption)}\n{_listed(exchanges)}\nAnalysis: {analysis}"
    return Prompt.of(known, system=_ASK_MORE)


def answer(image: str, question: str) -> Prompt:
    """Ask the one who sees the picture."""
    return Prompt.of(Image(image), f"Question: {question} Answer it in one short sentence.")


def reason(caption: str, exchanges: Sequence[Exchange], *, last: bool) -> Prompt:
    """Ask for a decision; in the last round one must be made."""
    known = f"{_known(caption)}\n{_listed(exchanges)}"
    return Prompt.of(known, system=_REASON + (_DECIDE if last else _OR_UNSURE))


def _known(caption: str) -> str:
    return f"Imperfect Caption: {caption}\nHypothesis: {caption}\nOptions: {', '.join(OPTIONS)}"


def _listed(exchanges: Sequence[Exchange]) -> str:
    return "\n".join(f"Sub-question: {e.question} Answer: {e.answer}" for e in exchanges)
