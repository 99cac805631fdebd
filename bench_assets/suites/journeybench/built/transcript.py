"""What is said in a dialogue about a picture, as rows, and how it is read."""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from bench_assets.suites.journeybench.built.dialogue_prompts import OPTIONS

Speaker: TypeAlias = Literal["asker", "answerer", "reasoner"]
Outcome: TypeAlias = Literal["decision", "round limit", "parse failure", "no reply"]

_SUB_QUESTION = re.compile(r"Sub-question.{0,3}:[ \t]*(\S.*)", re.IGNORECASE)
_LINE = r"{}:[ \t]*(\S.*)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One thing that was said in a dialogue; in the order of the rows."""

    picture: str
    round: int
    speaker: Speaker
    said: str
    heard: str  # the question that an answer is to, or what the speaker was shown
    attempt: int  # 0, or how often an unreadable reply was asked for again
    request_id: str
    model: str
    prompt_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueEnd:
    """How a dialogue ended."""

    picture: str
    caption: str  # what the asker and the reasoner knew, and whether it holds is what they discuss
    outcome: Outcome
    decision: str  # "entailment", "neutral" or "contradiction"; "" without a decision
    rounds: int
    detail: str  # why there was no reply, or which reply could not be read


class Reasoning(NamedTuple):
    """What the reasoner says in one round."""

    analysis: str
    statement: str
    decision: str  # "" if it is not sure


def read_questions(reply: str) -> list[str] | None:
    r"""Read the questions that an asker wrote, each after "Sub-question 1:"; None without any.

    >>> read_questions("Sub-question 1: What is red?\nAdditional Sub-question 2: What else?")
    ['What is red?', 'What else?']
    """
    return [found.strip() for found in _SUB_QUESTION.findall(reply)] or None


def read_reasoning(reply: str) -> Reasoning | None:
    """Read a reasoner's three lines; None if one is missing, or the answer is no option."""
    found = [
        re.findall(_LINE.format(name), reply, re.IGNORECASE)
        for name in ("Analysis", "Statement", "More Likely Answer")
    ]
    if not all(found):
        return None
    analysis, statement, said = (lines[-1].strip() for lines in found)
    if "not sure" in said.casefold():
        return Reasoning(analysis, statement, "")
    word = re.sub(r"[^\w\s]", "", said).strip().casefold()
    return Reasoning(analysis, statement, word) if word in OPTIONS else None
