"""The forms in which a response names an option, each a function: text, options -> their letters.

Texts are as ``response_text.with_letters`` leaves them, options in lower case without stops.
"""

import re
from collections.abc import Callable, Sequence
from string import ascii_uppercase
from typing import TypeAlias

from bench_assets.core.parsing.answer_statements import (
    BARE,
    BRACKETED,
    clause_of,
    final,
    not_meant,
    only_a_text,
    stated,
)
from bench_assets.core.parsing.assertion_scope import commits, holds
from bench_assets.core.parsing.normalization import (
    asks_for_input,
    conclusion_of,
    denies,
    is_sure,
    refuses,
    sentences,
)

_Find: TypeAlias = Callable[[str, Sequence[str]], set[str]]

_ALONE = re.compile(r"[^\w?+]*+([A-H])[^\w?+]*+(?:选?项[^\w?+]*+)?", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_ARTICLE = re.compile(r"\bA\b")
_NEXT_LABEL = re.compile(r"(?<!\()\b([B-H])[.:)] ")
_GOES_ON = re.compile(
    r"(?:is|was|are|has|appears|seems|looks|would|and|or|on|in|not|could|may|might|missing|failed"
    r"|cannot|isn|doesn|can|does|shows|depicts|represents|describes|suggests)"
    r"\b|[^\w\n]*\?"
)
_NOT_THIS = re.compile(r"\([A-H]\)(?:[是的]?[不没未错]|有误|可能)")
_LABEL = re.compile(r"\s*(?:\(([A-H])\)|([A-H])\s*[.:)、-])\s*(.*)", re.IGNORECASE)
_STOP = re.compile(r"[.;!。\n]")
_ITEMS = re.compile(r"1[.)] .*\n[ \t]*2[.)] ", re.DOTALL)
_BY_ITSELF = re.compile(r"[,，:(–—]| - |\bbecause\b")
_SO = re.compile(
    r"\W*(?:so|thus|therefore|hence|conclusion|ans|final|result|correct)\b[\s,:]*", re.IGNORECASE
)
_POLITE = re.compile(r"[\s,，]*+(?:of course|certainly|sure|gladly|sorry)?[\s,，]*+", re.IGNORECASE)
_FEW = 6  # words of a response that is short
_NO_CHOICE = re.compile(
    r"\b(?:vitamin|plan|grade|hepatitis|figure|appendix|code|id|dr\.?):? \(?[A-H]\b"
    r"|\b(?:error|failed|missing|unavailable|timed out|blocked|violation)\b"
    r"|\b(?:nicht|keine?|weder|pas|não|nem|niet|nie|не|ни|нет)\b|ません|ない|아니|아닙",
    re.IGNORECASE,
)
"""What a letter stands by that is no option, what a server says, and how others deny."""
_LISTED = re.compile(r"[\s-]*\(?([A-H])\b\)?[\s.:,]", re.IGNORECASE)

_BEING = re.compile(
    r"\(([A-H])\)(?:, which [^,.]{1,120},)?(?: (?:is|appears|seems|looks|would|to|be|much|\w+ly))+"
    r" (\w+)(?! to \()",
    re.IGNORECASE,
)
_COMPARATIVE = re.compile(r"\((\w)\) is (\w+)")
_CLAIMS = re.compile(r"\b(?:most (?:similar|likely)|more accurately|shares|corresponds|moving)\b")
_OPPOSITE = re.compile(r"\b(?:f[au]rther|background|lighter|brighter|paler)\b", re.IGNORECASE)
_SIDES = ("left", "right")
_MOVES = re.compile(r"\bcamera\b|相机|镜头", re.IGNORECASE)
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGITS = {word: str(number) for number, word in enumerate(_NUMBERS, 1)}
_NUMBER = re.compile(rf"\b(?:\d+|{'|'.join(_NUMBERS)})\b", re.IGNORECASE)


def _only_a_letter(text: str, texts: Sequence[str]) -> set[str]:
    del texts
    return {found[1].upper()} if (found := _ALONE.fullmatch(text)) else set()


def _option_line(text: str, texts: Sequence[str]) -> set[str]:
    """Lines that are a letter with the text of its option; several are a list of the options."""
    labels = [label for line in text.splitlines() if (label := _LABEL.fullmatch(line))]
    return {_letter(label) for label in labels if _letter(label) in only_a_text(label[3], texts)}


def _opening_letter(text: str, texts: Sequence[str]) -> set[str]:
    lines = text.splitlines()
    if lines and (alone := _ALONE.fullmatch(lines[0])):
        others = (_ALONE.fullmatch(line) for line in lines[1:])
        return {_letter(alone)} | {_letter(other) for other in others if other}
    labels = [_LABEL.fullmatch(line) for line in lines]
    first = labels[0] if labels and not any(labels[1:]) else None
    if first is None or _GOES_ON.match(first[3]) or _NOT_THIS.match(text):
        return set()
    labelled = {_letter(other) for other in _NEXT_LABEL.finditer(first[3])}
    said = names(sentences(first[3])[0], texts) | only_a_text(first[3], texts)
    return {_letter(first)} | labelled | said


def _closing_letter(text: str, texts: Sequence[str]) -> set[str]:
    """The last line, if it is nothing but a letter or an option's text, and no line above is."""
    *before, last = [line for line in text.splitlines() if line.strip()] or [""]
    if not before or any(map(_ALONE.fullmatch, before)):
        return set()
    last = _SO.sub("", last, count=1)
    alone = _ALONE.fullmatch(last)
    return {_letter(alone)} if alone else only_a_text(last, texts)


def _opening_text(text: str, texts: Sequence[str]) -> set[str]:
    """An option's text before the first stop, or if it is one word before a comma: "Yes, ...".

    It is none where what follows asks for the image, "Yes, please share it.", nor where it is
    the number of an item of a list.
    """
    if _ITEMS.match(text):
        return set()
    first, following = [*_STOP.split(text, 2), ""][:2]
    word = _BY_ITSELF.split(first)[0].rstrip()
    found = only_a_text(first, texts)
    rest = ""
    if not found and " " not in word.strip():
        found, rest = only_a_text(word, texts), first[len(word) :]
    return set() if asks_for_input(following if _POLITE.fullmatch(rest) else rest) else found


def _short(text: str, texts: Sequence[str]) -> set[str]:
    if any(map(_COMPARATIVE.fullmatch, texts)) and _OPPOSITE.search(text):
        return set()
    if not _is_short(text) or not (found := set(BARE.findall(text))) or _chooses_none(text):
        return set()
    found |= names(text, texts) | ({"A"} if _ARTICLE.search(text) else set())
    return found - not_meant(text, texts)


def _is_short(text: str) -> bool:
    return len(text.split()) <= _FEW


def _chooses_none(text: str) -> bool:
    """Whether a short response is no choice: one that doubts, refuses, or is a server's error."""
    said = [one for one in sentences(text) if BARE.search(one)] or [text]
    return not all(map(commits, said)) or refuses(text) or _NO_CHOICE.search(text) is not None


def _compared(text: str, texts: Sequence[str]) -> set[str]:
    """Letters whose comparison states their option's text.

    "(A) is closer to the camera than (B)" where the options are "(A) is closer", "(B) is closer".
    """
    said = [one for s in sentences(text) if is_sure(s) for one in _BEING.finditer(s)]
    compared = {f"({one[1].casefold()}) is {one[2].casefold()}" for one in said}
    return {a for a, option in zip(ascii_uppercase, texts, strict=False) if option in compared}


def _claimed(text: str, texts: Sequence[str]) -> set[str]:
    """Options named up to the end of clauses that state the answer."""
    found: set[str] = set()
    for sentence in sentences(text):
        if claim := _CLAIMS.search(sentence):
            head = sentence[: claim.end()] + clause_of(sentence[claim.end() :])
            found |= names(head, texts) if is_sure(head) else set()
    return found


def _mentioned(text: str, texts: Sequence[str]) -> set[str]:
    """Options named at least once without denial, condition or question."""
    if _is_short(text) and _chooses_none(_without_denials(text, texts)):
        return set()
    said = [one for one in sentences(text) if holds(_without_denials(one, texts))]
    found = names(text, texts) if names("\n".join(said), texts) else set()
    return set() if found & not_meant(text, texts) else found


def concluded(text: str, texts: Sequence[str]) -> set[str]:
    """Option of the last concluding sentence, unless it opens a list of options."""
    if len(_option_line(text, texts)) > 1:
        return set()
    drawn = [(one, said) for one in sentences(text) if (said := conclusion_of(one))]
    for said in reversed(drawn[-1] if drawn else ()):  # "A is nearest, so it is the one."
        if found := names(said, texts):
            return found if commits(_without_denials(said, texts)) else set()
    return set()


def _without_denials(sentence: str, texts: Sequence[str]) -> str:
    """Leave out the options whose texts deny: naming "no car" denies nothing."""
    for option in texts:
        if " " in option and denies(option):
            sentence = re.sub(rf"(?<!\w){re.escape(option)}(?!\w)", "", sentence, flags=re.I)
    return sentence


def names(text: str, texts: Sequence[str]) -> set[str]:
    """The options that a text names: by letter, by their text, or as the one number in it."""
    words = {one[2] for option in texts if (one := _COMPARATIVE.fullmatch(option))}
    told = [
        one for one in sentences(text) if not words or words & set(_WORD.findall(one.casefold()))
    ]
    by_letter = set(BRACKETED.findall("\n".join(told)))
    if all(option.isdecimal() for option in texts):
        said = {_DIGITS.get(n.lower(), n) for n in _NUMBER.findall(text)}
        return by_letter | (only_a_text(min(said), texts) if len(said) == 1 else set())
    moves = "\n".join(sentence for sentence in sentences(text) if _MOVES.search(sentence))
    return by_letter | {
        letter
        for letter, option in zip(ascii_uppercase, texts, strict=False)
        if len(option) > 3
        and re.search(
            rf"(?<!\w){re.escape(option)}s?(?!\w)", moves if option in _SIDES else text, re.I
        )
    }


def without_list(text: str, texts: Sequence[str]) -> str:
    """Leave out the lines that go through the options one by one: they choose none."""
    lines = text.splitlines()
    listed = {line: label[1] for line in lines if (label := _LISTED.match(line))}
    if len(set(listed.values())) < 2:
        return text
    return "\n".join(s for s in lines if s not in listed or _option_line(s, texts)) or text


def _letter(found: re.Match[str]) -> str:
    """The letter that a pattern found: it is in the first of its groups that is not empty."""
    letter: str = next(filter(None, found.groups()))
    return letter.upper()


# What a form is called, and how it is found.
CLEAR: tuple[tuple[str, _Find], ...] = (
    ("nothing but a letter", _only_a_letter),
    ("nothing but an option's text", only_a_text),
    ("a final answer", final),
    ("a stated answer", stated),
    ("the one line that is an option", _option_line),
    ("the letter it ends with", _closing_letter),
    ("the letter it begins with", _opening_letter),
    ("the option it begins with", _opening_text),
    ("the only letter", _short),
)
VAGUE: tuple[tuple[str, _Find], ...] = (
    ("the comparison it draws", _compared),
    ("what it claims", _claimed),
    ("the only option mentioned", _mentioned),
)
UNDECIDED = (_option_line, _short)
"""The forms in which two options do not yet mean that none was chosen."""
IN_FULL = (final, stated)
"""The forms that are looked for in lists of the options too."""
