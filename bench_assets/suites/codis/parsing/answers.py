"""Answer parser: which of a pair's two possible answers a response's last line names.

The paper has people read the outputs (sections 4.2 and 5.3). Here these rules do, for the judge
``rules``, for context awareness and for output variability. A response that hedges, refuses or
names both answers is read as naming neither: a missed answer is better than an invented one.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from bench_assets.core.parsing.sentences import (
    asks_for_input,
    is_undecided,
    split_sentences,
    strip_questions,
)
from bench_assets.core.schema.rows import Question
from bench_assets.suites.codis.parsing.alternatives import named_alternative
from bench_assets.suites.codis.parsing.clock import accepted_minutes, named_time
from bench_assets.suites.codis.parsing.polarity import affirms_option, read_may_as_can, yes_or_no
from bench_assets.suites.codis.parsing.words import has_phrase, normalize_text, statements

_WRAPPED = re.compile(r"\\boxed\s*\{(?:\\text\s*\{)?([^{}]*)\}{1,2}|</?answer>", re.IGNORECASE)
_POLITE = re.compile(r"\b(?:let me know|feel free|anything else|further)\b", re.IGNORECASE)
_MARKUP = " \t*_#`-"
_OTHERS_OPINION = (  # what someone else says, or what might be thought: "One might say up, but ..."
    r"\b(?<!\bI )(?<!\bwe )(?:say|claim|argue|insist|think|thought|believe|want|hope|guess|suggest"
    r"|assume)(?:s|ed|d)?\b|\bsaid\b"
    r"|\b(?:might|may|could) (?:seem|look|appear|be)\b|\blooks? like\b"
    r"|\bwould be (?:\w+ ){0,2}(?:wrong|mistake|error|bad|unwise|irresponsible)\b"
)
_PARTLY = re.compile(r"\b(?:half|partly|partially|almost|nearly)\b")
_CONCESSION = re.compile(
    rf"(?:\A|(?<=[.!;] ))(?:(?:even |al)?though|while|despite)\b[^,.;!?]*,\s*"
    r"|,?\s*(?<=[\w,] )(?:(?:al)?though|despite)\b[^,.;!?]*(?=[.;!?]|\Z)"
    rf"|(?:\A|(?<=[.!;] ))[^.;!?]*?(?:{_OTHERS_OPINION})[^.;!?]*?"
    r"(?:,? (?:but|yet)\b|;|\.(?= I\b)|[.!;] (?:however|in fact|actually|in reality)\b),?\s*",
    re.IGNORECASE,
)
_MIN_STATEMENT_WORDS = 3  # minimum words of a sentence that states something
_ANSWER_FIRST = re.compile(  # "Answer: up.\n\nReasoning: ..."
    r"\A\W*+(?:final )?answer[*_ ]*+[:：]([^\n]++)\n++\W*+(?:reason(?:ing)?|explanation)\b",
    re.IGNORECASE,
)
_IN_OBJECT = re.compile(  # {"Part 1": "...", "Part 2": "Up."}
    r"\"(?:part 2|(?:final )?answer)\"\s*:\s*\"([^\"\n]+)\"\s*\}\W*\Z", re.IGNORECASE
)
_SIDE_OF = re.compile(r"\b(?:left|right) (?:hand|arm|foot|leg)\b", re.IGNORECASE)
_ASIDE = re.compile(r"(?<=[.!?] )\([^()]*\)\s*\Z")
_CONCLUSION = re.compile(r"\W*(?:therefore|thus|hence|so|in conclusion|overall)\b", re.IGNORECASE)
_TURNS = re.compile(
    r"\b(?:but|however|though|unless|except|if|while|whereas|yet|elsewhere|depends)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r".*\b(?:(?:answer|(?:second|final|last) part|part (?:2|two)|summary|conclusion)\W{0,4}[:：–—-]"
    r"|answer(?: to (?:the|your) question)? is\b:?)|\W*(?:2|ii)[.)]+\s",
    re.IGNORECASE | re.DOTALL,
)


def read_answer(question: Question, response: str) -> str:
    """Read the answer of a response: the possible answer that it names, or else its final line."""
    return named_option(question.text, response, question.options) or final_answer(response)


@lru_cache(256)  # one response to many questions is read once
def final_answer(response: str) -> str:
    r"""Extract the final answer: the second part that Table 11 asks for, without its label.

    >>> final_answer("The greenery is below you, so you go up.\n\nPart 2: **Up.**")
    'Up.'
    """
    if matched := _ANSWER_FIRST.match(response) or _IN_OBJECT.search(response):
        return matched[1].strip(_MARKUP)
    text = _unwrap(response)
    lines = [line.strip(_MARKUP) for line in text.splitlines() if line.strip(_MARKUP)]
    if not lines:
        return ""
    label = _LABEL.match(lines[-1])
    return lines[-1][label.end() if label else 0 :].strip(_MARKUP)


def named_option(question: str, response: str, options: Sequence[str]) -> str | None:
    """Find the one possible answer that a response commits to, or None.

    A response that opens with a bare answer and explains it afterwards commits to it, unless the
    explanation supports another one.

    >>> named_option("Is he going up or down?", "He climbs the stairs.", ("Up.", "Down."))
    'Up.'
    >>> named_option("Is it legal?", "It is against the law.", ("Yes.", "No."))
    'No.'
    >>> named_option("Up or down?", "He could be going up.", ("Up.", "Down.")) is None
    True
    """
    closing, first = _without_nouns(question, final_answer(response)), _first_line(response)
    if _requests_input(closing):
        return None
    found = _exact_option(closing, options) or _read_paragraph(question, closing, options)
    opening = _exact_option(first, options)
    if opening is None or found == opening:
        return found
    return None if found or _mentions_another(question, closing, opening, options) else opening


def _read_paragraph(question: str, closing: str, options: Sequence[str]) -> str | None:
    """Read a paragraph: its conclusion, else the whole of it, else its first sentence.

    The first sentence counts only if the rest neither qualifies it nor supports another answer.
    """
    first, *rest = split_sentences(_ASIDE.sub("", closing))
    if (
        rest
        and _CONCLUSION.match(rest[-1])
        and (concluded := _stated_option(question, rest[-1], options))
    ):
        return concluded
    overall = _stated_option(question, closing, options)
    if overall or not rest or _TURNS.search(" ".join(rest)):
        return overall
    is_statement = len(first.split()) >= _MIN_STATEMENT_WORDS  # "Certainly! ..." is polite
    opening = _exact_option(first, options) or (
        _stated_option(question, first, options) if is_statement else None
    )
    is_unclear = opening is None or _mentions_another(question, " ".join(rest), opening, options)
    return None if is_unclear else opening


def _without_nouns(question: str, line: str) -> str:
    """Shorten "left hand" to "hand" if the question is about a left hand."""
    for noun in _SIDE_OF.findall(question):
        line = re.sub(rf"\b{noun}\b", noun.split()[-1], line, flags=re.IGNORECASE)
    return line


@lru_cache(256)
def _strip_concessions(line: str) -> str:
    """Remove concessions and the opinions of others from a line."""
    return _CONCESSION.sub("", line)


@lru_cache(256)
def _first_line(response: str) -> str:
    return _unwrap(response).strip().split("\n")[0]


def _unwrap(response: str) -> str:
    """Remove boxes and tags around an answer."""
    return _WRAPPED.sub(r" \1 ", response)


@lru_cache(256)
def _requests_input(line: str) -> bool:
    """Whether a line asks for the image or offers help; a polite closing does not count."""
    return any(asks_for_input(one) for one in split_sentences(line) if not _POLITE.search(one))


def _exact_option(line: str, options: Sequence[str]) -> str | None:
    words = "" if "?" in line else normalize_text(line)
    found = [option for option in options if words == normalize_text(option)]
    return found[0] if len(found) == 1 else None


def _stated_option(question: str, line: str, options: Sequence[str]) -> str | None:
    line = _strip_concessions(read_may_as_can(question, strip_questions(line)))
    words = normalize_text(line)
    if is_undecided(line) or words == normalize_text(question):
        return None
    if any(accepted_minutes(option) for option in options):
        return named_time(line, options)
    plain = {normalize_text(option): option for option in options}
    partly = _PARTLY.findall(words)
    if any(has_phrase(f"{degree} {phrase}", words) for degree in partly for phrase in plain):
        return None
    if plain.keys() == {"yes", "no"}:
        verdict = yes_or_no(question, line)
        return None if verdict is None else plain["yes" if verdict else "no"]
    for phrase, option in plain.items():
        if denied := plain.get(f"not {phrase}"):
            verdict = affirms_option(option, line)
            return None if verdict is None else option if verdict else denied
    return named_alternative(question, line, options)


def _mentions_another(question: str, line: str, opening: str, options: Sequence[str]) -> bool:
    """Whether a clause of an explanation supports another answer."""
    return any(
        _stated_option(question, clause, options) not in (None, opening)
        for clause in statements(line)
    )
