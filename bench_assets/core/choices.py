"""Letters for options, and letters out of replies.

A reply is read form by form, from the plainest (nothing but a letter) to the loosest (one option is
mentioned, no other). The first form that finds one option decides; where a form that commits finds
two, none is read: a wrong letter is worse than none.
"""

import re
from collections.abc import Callable, Sequence
from string import ascii_uppercase
from typing import NamedTuple, TypeAlias

from bench_assets.core.reply_text import (
    bare,
    concludes,
    denies,
    is_sure,
    plain,
    refuses,
    sentences,
)


class Choice(NamedTuple):
    """The option that a reply commits to, if it commits to one."""

    letter: str | None
    why: str  # what it was read from, or why nothing was


def lettered(options: Sequence[str]) -> str:
    r"""Write options one per line, as the model sees them.

    >>> lettered(("left", "right"))
    '(A) left\n(B) right'
    """
    return "\n".join(f"({a}) {o}" for a, o in zip(ascii_uppercase, options, strict=False))


def letter_in(reply: str, n_options: int) -> str | None:
    """Find the one option letter a reply commits to, or None if it commits to none or several.

    As ``read_choice``, where the texts of the options are not known.

    >>> letter_in("The answer is (B).", 4), letter_in("Both look alike.", 4)
    ('B', None)
    """
    return read_choice(reply, [""] * n_options).letter


def read_choice(reply: str, options: Sequence[str]) -> Choice:
    """Read which option a reply commits to, by its letter or by its text.

    Args:
        reply: What the model said, in English or Chinese, with or without markup.
        options: The texts of the options as shown, at most 8; "" where only a letter is known.

    >>> read_choice("Turning clockwise, so the camera moves **left**.", ("left", "right"))
    Choice(letter='A', why='the only option mentioned')
    >>> read_choice("Either (A) or (B).", ("left", "right"))
    Choice(letter=None, why='names (A) and (B)')
    """
    texts = [bare(plain(option)) for option in options]
    text = _without_list(plain(reply), texts)
    for why, find, commits in _FORMS:
        found = find(text, texts)
        if len(found) == 1:
            letter = min(found)
            offered = letter in ascii_uppercase[: len(options)]
            return Choice(letter, why) if offered else Choice(None, f"({letter}) is not offered")
        if found and commits:
            return Choice(None, "names " + " and ".join(f"({letter})" for letter in sorted(found)))
    return Choice(None, "names no option")


_Find: TypeAlias = Callable[[str, Sequence[str]], set[str]]

_LETTER = (
    # "a" and "A" are a letter only where they cannot be the article.
    r"(?:\(([A-Ha-h])\)|([B-Hb-h]|[Aa](?!\s+(?!is\b|because\b|since\b|as\b)[a-z]))(?![\w'’]))"
    # "A and B" is no choice, and neither is a list of all options.
    r"(?![^.\n]{0,30}?(?:\band|\bor|和|或)\s*\(?[A-H]\b)(?!.{0,80}\n\s*\([B-H]\))"
)
_NOUN = r"(?:(?:option|choice|letter|point|image|picture|box|选项)\s*)?"
_IS = (
    r"(?:\s*(?:is|was|are|be|should be|would be|must be|seems to be|[:=]|是|为|应为|应该是|选)\s*)"
)
_SURE = r"(?:(?:clearly|definitely|likely|probably|most likely|therefore|thus|the|:)\s*)*"
_STATED = (
    rf"(?:\banswer(?:\s+to\s+th\w+\s+question)?|\b(?:correct|right|best)\s+(?:option|choice|one)"
    rf"|\b(?:my|final)\s+(?:choice|pick)|答案|正确选项){_IS}{_SURE}{_NOUN}",
    rf"\b(?:I|we)(?:'d|\s+would|\s+will|\s+might)?\s+(?:choose|pick|select|say|answer|suggest"
    rf"|go\s+with|opt\s+for|lean\s+towards?)\s*:?\s+(?:that\s*:?\s+)?{_SURE}{_NOUN}",
    rf"\b(?:I|we)\s+(?:think|believe|guess)\s+(?:that\s+)?(?:it\s*(?:is|'s)\s+)?{_SURE}{_NOUN}",
    r"选择?\s*:?\s*",
)
_STATED_LETTERS = tuple(
    re.compile(opening + _LETTER, re.IGNORECASE | re.ASCII) for opening in _STATED
)
_CONFIRMED = re.compile(
    rf"(?<![\w'’])(?:{_LETTER})\s*(?:选项)?\s*"
    r"(?:is\s+(?:the\s+)?(?:correct|right|best|answer)\b(?!\s*\?)|是?正确)",
    re.IGNORECASE | re.ASCII,
)
_ALONE = re.compile(r"\W*(?:option\s+)?([A-H])\W*(?:选?项)?\W*", re.IGNORECASE)
_CAPITAL = re.compile(r"(?<![\w'’])([B-H]|A(?!\s+(?!is\b)[a-z]))(?![\w'’])", re.ASCII)
_LABEL = re.compile(r"\s*(?:option\s+)?(?:\(([A-H])\)|([A-H])\s*[.:)、-])\s*(.*)", re.IGNORECASE)
_LISTED = re.compile(
    r"[\s-]*(?:(?:option|point|picture|box|image)\s+)?\(?([A-H])\b\)?[\s.:,]", re.IGNORECASE
)
_NAMED = re.compile(
    r"\(([A-Ha-h])\)|\b(?i:options?|choice|point|box|picture|image|labell?ed)\s+([A-H])(?![\w'’])"
    r"|\b(?:is|be)\s+([A-H])(?=\s*(?:[.,;!]|$))",
    re.ASCII,
)
_CLAIMS = re.compile(
    r"\b(?:most|best|correct|moving|corresponds?|closer to the camera|more accurately)\b", re.I
)
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGITS = {word: str(number) for number, word in enumerate(_NUMBERS, 1)}
_NUMBER = re.compile(rf"\b(?:\d+|{'|'.join(_NUMBERS)})\b", re.IGNORECASE)


def _only_a_letter(text: str, texts: Sequence[str]) -> set[str]:
    del texts
    return {found[1].upper()} if (found := _ALONE.fullmatch(text)) else set()


def _only_a_text(text: str, texts: Sequence[str]) -> set[str]:
    """The options whose text is all there is."""
    said = bare(text)
    return {a for a, option in zip(ascii_uppercase, texts, strict=False) if said and option == said}


def _final(text: str, texts: Sequence[str]) -> set[str]:
    """What is stated after the last "final answer", whatever was stated before."""
    before, _, after = text.rpartition("inal answer")
    return _stated(f"answer{after}", texts) if before else set()


def _stated(text: str, texts: Sequence[str]) -> set[str]:
    found = _letters(_CONFIRMED, text)
    for opening, letters in zip(_STATED, _STATED_LETTERS, strict=True):
        for said in letters.finditer(text):
            found |= {_letter(said)} | _only_a_text(text[said.end() :].partition("\n")[0], texts)
        for letter, option in zip(ascii_uppercase, texts, strict=False):
            if option and re.search(rf"{opening}{re.escape(option)}(?!\w)", text, re.IGNORECASE):
                found.add(letter)
    return found


def _option_line(text: str, texts: Sequence[str]) -> set[str]:
    """Lines that are a letter with the text of its option; several are a list of the options."""
    labels = [label for line in text.splitlines() if (label := _LABEL.fullmatch(line))]
    return {_letter(label) for label in labels if _letter(label) in _only_a_text(label[3], texts)}


def _opening_letter(text: str, texts: Sequence[str]) -> set[str]:
    lines = text.splitlines()
    if lines and (alone := _ALONE.fullmatch(lines[0])):
        return {_letter(alone)}
    labels = [_LABEL.fullmatch(line) for line in lines]
    first = labels[0] if labels and not any(labels[1:]) else None
    return {_letter(first)} | _names(sentences(first[3])[0], texts) if first else set()


def _opening_text(text: str, texts: Sequence[str]) -> set[str]:
    """An option's text before the first stop, or if it is one word before a comma: "Yes, ..."."""
    first, word = re.split(r"[.;!。\n]", text)[0], re.split(r"[,，]", text)[0].strip()
    return _only_a_text(first, texts) or (_only_a_text(word, texts) if " " not in word else set())


def _short(text: str, texts: Sequence[str]) -> set[str]:
    del texts
    short = len(text.split()) <= 6 and not denies(text)
    return set(_CAPITAL.findall(text)) if short else set()


def _mentioned(text: str, texts: Sequence[str]) -> set[str]:
    """What is named where nothing is denied; a reply that refuses names nothing."""
    if refuses(text):
        return set()
    said = [sentence for sentence in sentences(text) if not denies(sentence)]
    return _names("\n".join(said), texts)


def _concluded(text: str, texts: Sequence[str]) -> set[str]:
    """What the last sentence that draws a conclusion names, unless it opens a list of options."""
    if len(_option_line(text, texts)) > 1:
        return set()
    drawn = [sentence for sentence in sentences(text) if concludes(sentence)]
    return _names(drawn[-1], texts) if drawn and is_sure(drawn[-1]) else set()


def _claimed(text: str, texts: Sequence[str]) -> set[str]:
    """What the first sentence names, if it says more than what is where."""
    first = sentences(text)[0]
    return _names(first, texts) if _CLAIMS.search(first) and is_sure(first) else set()


def _names(text: str, texts: Sequence[str]) -> set[str]:
    """The options that a text names: by letter, by their text, or as the one number in it."""
    if all(option.isdecimal() for option in texts):
        said = {_DIGITS.get(n.lower(), n) for n in _NUMBER.findall(text)}
        by_text = _only_a_text(min(said), texts) if len(said) == 1 else set()
    else:
        by_text = {
            letter
            for letter, option in zip(ascii_uppercase, texts, strict=False)
            if len(option) > 3 and re.search(rf"(?<!\w){re.escape(option)}s?(?!\w)", text, re.I)
        }
    return by_text | _letters(_NAMED, text)


def _without_list(text: str, texts: Sequence[str]) -> str:
    """Leave out the lines that go through the options one by one: they choose none."""
    lines = text.splitlines()
    listed = {line: label[1] for line in lines if (label := _LISTED.match(line))}
    if len(set(listed.values())) < 2:
        return text
    return "\n".join(s for s in lines if s not in listed or _option_line(s, texts)) or text


def _letters(pattern: re.Pattern[str], text: str) -> set[str]:
    return {_letter(found) for found in pattern.finditer(text)}


def _letter(found: re.Match[str]) -> str:
    """The letter that a pattern found: it is in the first of its groups that is not empty."""
    letter: str = next(filter(None, found.groups()))
    return letter.upper()


# What a form is called, how it is found, and whether two options in it mean that none was chosen.
_FORMS: tuple[tuple[str, _Find, bool], ...] = (
    ("nothing but a letter", _only_a_letter, True),
    ("nothing but an option's text", _only_a_text, True),
    ("a final answer", _final, True),
    ("a stated answer", _stated, True),
    ("the one line that is an option", _option_line, False),
    ("the letter it begins with", _opening_letter, True),
    ("the option it begins with", _opening_text, True),
    ("the only letter", _short, False),
    ("the only option mentioned", _mentioned, False),
    ("the only option in the conclusion", _concluded, True),
    ("the only option in its first claim", _claimed, False),
    ("the only option mentioned", _mentioned, True),
)
