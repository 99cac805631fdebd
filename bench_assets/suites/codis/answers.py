"""Answers of responses: one of a pair's two possible answers, or else the last line.

The paper has people read the outputs (sections 4.2 and 5.3). Here the rules of reading do, for the
judge ``rules``, for context awareness and for output variability: the answer is the one possible
answer that a response gives as a whole.
"""

import re
import unicodedata

from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.schema.rows import Question

_MARKUP = " \t*_#`-"
_WRAPPED = re.compile(r"\\boxed\s*\{(?:\\text\s*\{)?([^{}]*)\}{1,2}|</?answer>", re.IGNORECASE)
_LABEL = re.compile(
    r".*\b(?:(?:answer|(?:second|final|last) part|part (?:2|two)|conclusion)\W{0,4}[:：–—-]"
    r"|answer(?: to (?:the|your) question)? is\b:?)|\W*(?:2|ii)[.)]+\s",
    re.IGNORECASE | re.DOTALL,
)
_ARTICLE = re.compile(r"\b(?:the|an?)\b(?=\W+\w)", re.IGNORECASE)
_WORD = re.compile(r"\d+:\d\d|[^\W_]+")
_CONTRACTIONS = (("’", "'"), ("can't", "can not"), ("n't", " not"), ("cannot", "can not"))


def answer_form(question: Question) -> AnswerForm:
    """The form of an answer: one of the two possible answers of a pair, as a whole."""
    return AnswerForm("answers", question.options)


def read_answer(question: Question, response: str) -> str:
    """Read the answer of a response: the possible answer that it gives, or else its last line."""
    reading = answer_form(question).read(response)
    return reading.value if reading else final_answer(response)


def final_answer(response: str) -> str:
    r"""Extract the final answer: the second part that Table 11 asks for, without its label.

    >>> final_answer("The greenery is below you, so you go up.\n\nPart 2: **Up.**")
    'Up.'
    """
    text = _WRAPPED.sub(r" \1 ", response)
    lines = [line.strip(_MARKUP) for line in text.splitlines() if line.strip(_MARKUP)]
    if not lines:
        return ""
    last_line = lines[-1]
    label = _LABEL.match(last_line)
    return last_line[label.end() :].strip(_MARKUP) if label else last_line


def normalize_text(text: str) -> str:
    """Reduce a text to its words: no case, punctuation or articles.

    >>> normalize_text("**It isn't** on the “left”: 2:30.")
    'it is not on left 2:30'
    """
    plain = _ARTICLE.sub(" ", unicodedata.normalize("NFKC", text)).casefold()
    for contraction, full_form in _CONTRACTIONS:
        plain = plain.replace(contraction, full_form)
    return " ".join(_WORD.findall(plain))
