"""Rules that compare a response with people's answers, for use without a judge model.

A response is right if it matches one of people's answers:

* the same stance: something is there, or it is not there or cannot be told;
* the same numbers, and no others;
* at least half of the answer's words that are not in the question;
* an absent thing is named, or meant by "they": a sentence that fits every question matches none;
* no list: nothing else is denied beside the thing, and at least a third of the words are in the
  question or the answer.
"""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

_WORDS: dict[str, Any] = json.loads(
    Path(__file__).with_name("answer_words.json").read_text(encoding="utf-8")
)
_DENYING = re.compile("|".join(_WORDS["denying"]), re.IGNORECASE)
_REFUSING = re.compile("|".join(_WORDS["refusing"]), re.IGNORECASE)
_NOT_ANSWERING = re.compile("|".join(_WORDS["not_answering"]), re.IGNORECASE)
_EMPTY = frozenset(_WORDS["empty"])
_NUMBERS: dict[str, str] = _WORDS["numbers"]
_BARE = frozenset(_WORDS["bare"])
_MIN_WORD_SHARE = 0.5
_LIST_RATIO = 3  # most words per word of the question or answer: more are a list
_SEPARATOR = re.compile(r"[,;/.\n]|\b(?:and|or|nor)\b", re.IGNORECASE)
_ARTICLES = frozenset({"a", "an", "the", "any"})
_ADJECTIVES = 1  # unknown words beside a denied thing: more are other things


def matches_truth(response: str, truth: str, question: str) -> bool:
    """Whether a response matches one of people's answers.

    >>> matches_truth("I see no heart.", "There is no blue heart", "Where is the blue heart?")
    True
    >>> matches_truth("No.", "There is no blue heart", "Where is the blue heart?")
    False
    >>> matches_truth("There are 2 owls", "Three owls", "How many owls are there?")
    False
    >>> matches_truth("No heart, cat, shoe, tree, car.", "There is no heart", "Where is the heart?")
    False
    """
    if _is_evasive(response, truth) or bool(_DENYING.search(response)) != bool(
        _DENYING.search(truth)
    ):
        return False
    question_words, response_words, truth_words = _words(question), _words(response), _words(truth)
    subject = (
        truth_words & question_words or truth_words
    )  # the question's subject, if the truth names it
    denied = _has_plural_reference(response, truth) or _denies_thing(
        response, subject, question_words | truth_words
    )
    if _DENYING.search(truth) and subject and not denied:
        return False
    answer_words = truth_words - question_words
    counts = {word for word in answer_words if word.isdigit()}
    if counts and counts != {word for word in response_words - question_words if word.isdigit()}:
        return False
    relevant = response_words & (question_words | truth_words)
    return len(answer_words & response_words) >= _MIN_WORD_SHARE * len(answer_words) and len(
        response_words
    ) <= _LIST_RATIO * len(relevant)


def _is_evasive(response: str, truth: str) -> bool:
    """Whether a response is empty, refuses, or is a bare word ("No") that the truth is not."""
    if not response.strip() or _REFUSING.search(response):
        return True
    if _NOT_ANSWERING.search(response) and not _NOT_ANSWERING.search(truth):
        return True
    return _normalize_text(response) in _BARE and _normalize_text(response) != _normalize_text(
        truth
    )


def _denies_thing(response: str, things: frozenset[str], known: frozenset[str]) -> bool:
    """Whether a response names one of the things, and no list of others beside it.

    ``known`` are the words of question and truth.
    """
    parts = _SEPARATOR.split(response)
    if any(_words(part) and not _words(part) & known and _is_list_item(part) for part in parts):
        return False
    runs = [_words(run) for part in parts for run in _content_runs(part)]
    return any(run & things and len(run - known) <= _ADJECTIVES for run in runs)


def _is_list_item(part: str) -> bool:
    """Whether a part of a sentence denies, or is a noun without a verb as in a list."""
    plain = _normalize_text(part).split()
    return bool(_DENYING.search(part)) or _EMPTY.intersection(plain) <= _ARTICLES


def _content_runs(part: str) -> list[str]:
    """Runs of consecutive words that carry meaning."""
    spaced = (word if _words(word) else "," for word in part.split())
    return " ".join(spaced).split(",")


def _has_plural_reference(response: str, truth: str) -> bool:
    """Whether "they" in a response refers to things that the truth has in the plural."""
    return all(
        word in _normalize_text(text).split() for word, text in (("they", response), ("are", truth))
    )


def _normalize_text(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    """The words that carry meaning: without articles and the like, numbers as digits."""
    words = re.findall(r"[^\W_]+", text.lower().replace("'s", ""))
    plain = (_NUMBERS.get(word, word) for word in words if word not in _EMPTY)
    return frozenset(word.removesuffix("s") if len(word) > 3 else word for word in plain)
