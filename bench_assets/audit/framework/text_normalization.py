"""Text normalisation for comparisons: words without case and punctuation."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from string import ascii_uppercase

from bench_assets.core.schema.rows import Question

_HAN = r"\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_WORD = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+(?:[.,/][0-9]+)*")
_LABEL_BY_LETTER = {
    letter: re.compile(rf"\b{letter}\s*[.)、．:：]\s*") for letter in ascii_uppercase
}
_ARTICLE = re.compile(r"\b(?:a|[Aa]n|[Tt]he)\s+(?=\w)")
_SIGN = re.compile(r"[+<>=≤≥≠±#]|(?<!\w)[-−](?=\w)")


def split_words(text: str) -> list[str]:
    """Split a text into words; each Chinese, Japanese or Korean character is a word.

    >>> split_words("The Cow-boy has 3.5 €, 直角!")
    ['the', 'cow', 'boy', 'has', '3.5', '直', '角']
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=2**16)
def content_words(text: str) -> tuple[str, ...]:
    """Words of a text without articles, except a capital A, which may be a letter.

    >>> content_words("The point A"), content_words("on an Island"), content_words("a")
    (('point', 'a'), ('on', 'island'), ('a',))
    """
    return tuple(split_words(_ARTICLE.sub(" ", text)))


def option_words(option: str) -> tuple[str, ...]:
    """Content words of an option; without any, or with signs, the option without spaces.

    >>> option_words("The red one."), option_words("x < 3"), option_words("?")
    (('red', 'one'), ('x<3',), ('?',))
    """
    words = content_words(option)
    return words if words and not _SIGN.search(option) else ("".join(option.split()),)


def contains(text: Sequence[str], part: Sequence[str]) -> bool:
    """Whether a text contains words as a contiguous sequence.

    >>> contains(["is", "it", "half", "past", "two"], ["past", "two"]), contains(["a"], [])
    (True, False)
    """
    return bool(part) and f" {' '.join(part)} " in f" {' '.join(text)} "


def count_occurrences(text: Sequence[str], parts: Sequence[Sequence[str]]) -> list[int]:
    """Count the parts in a text; "dark red" does not count for "red" if both are parts.

    >>> count_occurrences(
    ...     "a dark red car is dark red , not red".split(), [["dark", "red"], ["red"]]
    ... )
    [2, 1]
    >>> count_occurrences(["5"], [["5"], ["5"]])
    [1, 1]
    """
    remaining = f" {'  '.join(text)} "  # two spaces, so that equal words in a row are all counted
    counts: dict[tuple[str, ...], int] = {(): 0}
    for part in sorted(map(tuple, parts), key=len, reverse=True):
        if part not in counts:
            phrase = f" {'  '.join(part)} "
            counts[part] = remaining.count(phrase)
            remaining = remaining.replace(phrase, " | ")
    return [counts[tuple(part)] for part in parts]


def count_phrase(n: int, noun: str) -> str:
    """Format a count with its noun and verb.

    >>> count_phrase(0, "image"), count_phrase(1, "image"), count_phrase(2, "image")
    ('No image is', '1 image is', '2 images are')
    """
    return f"{n} {noun}s are" if n > 1 else f"{n or 'No'} {noun} is"


def question_words(question: Question) -> list[str]:
    """Words of a question and its context, without lettered options repeated in its text."""
    text = question.text
    if question.kind in ("choice", "choices"):
        for letter, option in zip(ascii_uppercase, question.options, strict=False):
            text = _remove_option(text, letter, option.lstrip())
    return list(content_words(f"{text}\n{question.context}"))


def _remove_option(text: str, letter: str, option: str) -> str:
    """Remove the first occurrence of an option after its letter in a text.

    Only the patterns of labels are compiled: one for each option would dominate the running time.

    >>> (
    ...     _remove_option("Which? A. red B) dark red A.red", "A", "red"),
    ...     _remove_option("A red one", "A", "red"),
    ... )
    ('Which?   B) dark red A.red', 'A red one')
    """
    if option in text:
        for match in _LABEL_BY_LETTER[letter].finditer(text):
            if text.startswith(option, match.end()):
                return f"{text[: match.start()]} {text[match.end() + len(option) :]}"
    return text


def right_texts(question: Question) -> tuple[str, ...]:
    """Texts of the right answers; for letters, the texts of the options that they name."""
    if question.kind in ("choice", "choices"):
        indices = (ascii_uppercase.find(letter) for letter in question.answer if letter)
        return tuple(question.options[n] for n in indices if 0 <= n < len(question.options))
    return question.answer


def key_index(question: Question) -> int:
    """Index of the right option; -1 unless exactly one of several is right.

    >>> from tests.fakes.rows import question
    >>> key_index(question(kind="text", options=("West.", "East."), answer=("East.",)))
    1
    """
    if len(question.options) < 2 or question.kind not in ("choice", "text"):
        return -1
    right = set(map(option_words, right_texts(question)))
    indices = [n for n, option in enumerate(question.options) if option_words(option) in right]
    return indices[0] if len(indices) == 1 else -1
