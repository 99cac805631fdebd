"""Choices: the letter, or the letters, of the options that a response gives."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from string import ascii_uppercase
from typing import NamedTuple, TypeAlias

from bench_assets.core.reading.numbers import parse_quantity
from bench_assets.core.reading.readings import UNREADABLE, Reading, Unreadable, plain_text, read
from bench_assets.core.reading.rules import Extent, Kind, part

MAX_OPTIONS = 26  # options that have a letter that is read, A to Z
_WORD_OR_SIGN = re.compile(r"[^\W\d]+|\d[\d.,]*|\S")
_MARGIN, _MARGIN_RATIO = 40, 3  # characters, and times the longest option: no longer text is one
_MAX_LOWERCASE_LENGTH = 3  # characters of a text that is a lowercase letter: "(b)"


def lettered(options: Sequence[str]) -> str:
    r"""Write options one per line, as the model sees them.

    >>> lettered(("left", "right"))
    '(A) left\n(B) right'
    """
    lettered_options = zip(ascii_uppercase, options, strict=False)
    return "\n".join(f"({letter}) {option}" for letter, option in lettered_options)


def read_choice(response: str, options: Sequence[str]) -> Reading[str] | None:
    """Read the letter of the one option that a response gives; None if it gives none, or several.

    A stated letter counts even if the text beside it is another option's; then it is ``disputed``.

    Args:
        response: The response, without the model's reasoning.
        options: The texts of the options as shown, at most 26; "" for one that has only a letter.

    >>> read_choice("Turning clockwise, so the answer is **left**.", ("left", "right")).value
    'A'
    >>> read_choice("Either (A) or (B).", ("left", "right"))
    """
    offered = _options(tuple(options), has_letters=True)
    choice = read("choice", response, offered.parse)
    if choice is None or choice.disputed:
        return choice
    return replace(choice, disputed=offered.contradicts(response, choice))


def read_choices(response: str, options: Sequence[str]) -> Reading[str] | None:
    """Read the letters of all options that a response gives, in alphabetical order.

    >>> read_choices("The correct options are A and D.", ["", "", "", ""]).value
    'A D'
    """
    offered = _options(tuple(options), has_letters=True)

    def parse(text: str, extent: Extent) -> str | None:
        letters = parse_letters(text, offered.letters, extent)
        return " ".join(letters) if letters else offered.whole_option(text)

    return read("choices", response, parse)


def parse_letters(text: str, offered: str, extent: Extent = "answer") -> tuple[str, ...] | None:
    """Parse a text that is (for "opening": opens with) some of the offered letters; sorted.

    >>> parse_letters("A, C", "ABCD"), parse_letters("AE", "ABCD")
    (('A', 'C'), None)
    """
    pattern = part("letter_list")
    whole = text.rstrip(" .。!]\"'")
    match = pattern.match(text) if extent == "opening" else pattern.fullmatch(whole)
    letters = set(re.findall("[A-Z](?![a-z])", match[1])) if match else set()
    return tuple(sorted(letters)) if letters and letters <= {*offered} else None


def read_one_of(kind: Kind, response: str, texts: Sequence[str]) -> Reading[str] | None:
    """Read which of several texts a response gives as a whole; letters do not count.

    >>> read_one_of("verdict", "Verdict: right.", ("right", "wrong")).value
    'right'
    """
    offered = _options(tuple(texts), has_letters=False)
    choice = read(kind, response, offered.parse)
    return choice.with_value(texts[ascii_uppercase.index(choice.value)]) if choice else None


_Key: TypeAlias = str | float | tuple[str]


class _Options(NamedTuple):
    """Options with all forms in which they are compared."""

    letters: str
    by_key: dict[_Key, str]  # letter of the only option that has a key
    words: tuple[str, ...]  # of each option, see ``_words``
    tokens: dict[str, tuple[str, ...]]  # words and signs by letter, the longest option first
    has_letters: bool  # whether responses may use the letters
    longest: int  # characters of a text that may be the text of an option

    def parse(self, text: str, extent: Extent) -> str | Unreadable | None:
        """The letter that a captured text gives; ``UNREADABLE`` if it opens with several."""
        if extent in ("mention", "words"):
            return self.mentioned_option(text, numerals=extent == "mention")
        whole = self.whole_option(text)
        if whole or extent == "answer":
            return whole
        leading = part("leading_letter").match(text) if self.has_letters else None
        if leading and leading[1] in self.letters:
            is_list = self.continues_list(leading[1], text[leading.end(1) :])
            return UNREADABLE if is_list else leading[1]
        return self.whole_option(part("clause_end").split(text, maxsplit=1)[0])

    def continues_list(self, letter: str, rest: str) -> bool:
        """Whether ``rest``, the text after ``letter``, goes on: "A, B", or "A left, B"."""
        if letter in self.tokens:
            rest = _mention_pattern(self.tokens[letter], last=False).sub("", rest, count=1)
        return part("second_letter").match(rest) is not None

    def whole_option(self, text: str) -> str | None:
        """The option that a text is: its letter, its text, or its letter followed by its text."""
        alone = part("letter_alone").fullmatch(text) if self.has_letters else None
        is_letter = alone and (alone[1].isupper() or len(text.strip()) <= _MAX_LOWERCASE_LENGTH)
        if alone and is_letter and alone[1].upper() in self.letters:
            return alone[1].upper()
        keys = _keys(text) if len(text) <= self.longest else ()
        if letters := [self.by_key[key] for key in keys if key in self.by_key]:
            return letters[0]
        labelled = part("labelled").fullmatch(text) if self.has_letters else None
        if labelled is None or labelled[1] not in self.letters:
            return None
        if self.continues_list(labelled[1], text[labelled.end(1) :]):
            return None
        other_letters = {*part("bracketed_letter").findall(labelled[2])} - {labelled[1]}
        own_words = self.words[self.letters.index(labelled[1])]
        is_own = not other_letters and _words(labelled[2]).startswith(own_words)
        return labelled[1] if is_own else None

    def contradicts(self, response: str, choice: Reading[str]) -> bool:
        """Whether the text beside a letter is another option's."""
        start, _ = choice.evidence
        line = plain_text(response[start:].split("\n", maxsplit=1)[0]).text
        labelled = part("labelled").fullmatch(line) if len(line) <= self.longest else None
        letter = self.by_key.get((_words(labelled[2]),)) if labelled else None
        return letter not in (None, choice.value)

    def mentioned_option(self, text: str, *, numerals: bool) -> str | None:
        """The only option that a text names: by a letter in brackets or at its end, or by words."""
        text = part("comparison").split(text, maxsplit=1)[0]
        if part("denial").search(text):
            return None
        if self.has_letters:
            named = part("bracketed_letter").findall(text) or part("last_letter").findall(text)
            letters = {*named} & {*self.letters}
            if letters:
                return letters.pop() if len(letters) == 1 else None
        mentions = []
        for letter, tokens in self.tokens.items():
            lowered, is_number = text.casefold(), tokens[0][0].isdigit()
            if all(token in lowered for token in tokens) and (numerals or not is_number):
                text, count = _mention_pattern(tokens, last=is_number).subn(" ", text)
                if count:
                    mentions.append(letter)
        return mentions[0] if len(mentions) == 1 else None


@lru_cache(maxsize=4096)
def _options(options: tuple[str, ...], *, has_letters: bool) -> _Options:
    plain = [plain_text(option).text for option in options]
    texts = dict(zip(ascii_uppercase, plain, strict=False))
    counts = Counter(key for text in plain for key in _keys(text))
    letter_of = {key: letter for letter, text in texts.items() for key in _keys(text)}
    tokens = {
        letter: tuple(_WORD_OR_SIGN.findall(texts[letter].strip(" .").casefold()))
        for letter in sorted(texts, key=lambda letter: len(texts[letter]), reverse=True)
        if len(texts[letter]) > 1 or not texts[letter].isalpha()
    }
    return _Options(
        letters="".join(texts),
        by_key={key: letter for key, letter in letter_of.items() if counts[key] == 1},
        words=tuple(map(_words, plain)),
        tokens={letter: option_tokens for letter, option_tokens in tokens.items() if option_tokens},
        has_letters=has_letters,
        longest=_MARGIN + _MARGIN_RATIO * max(map(len, options), default=0),
    )


@lru_cache(maxsize=4096)
def _mention_pattern(tokens: tuple[str, ...], *, last: bool) -> re.Pattern[str]:
    """Pattern of an option's text as whole words. With ``last``, no digit may follow."""
    spaced = r"[\s\"'“(]*".join(map(re.escape, tokens))
    end = r"(?=\D*\Z)" if last else ""
    return re.compile(rf"(?<![\w.,-]){spaced}(?![\w°%]|[.,]\d){end}", re.IGNORECASE)


@lru_cache(maxsize=4096)
def _keys(text: str) -> tuple[_Key, ...]:
    """Keys by which texts are compared: the text without LaTeX's signs, its words, its quantity."""
    signs = part("typesetting").sub("", text.replace("\\sqrt", "√")).casefold().strip(".,;:'\"")
    words, quantity = _words(text), parse_quantity(text)
    keys: list[_Key] = [signs] if signs or words else []
    if words:
        keys.append((words,))
    return (*keys, quantity.value) if quantity else tuple(keys)


def _words(text: str) -> str:
    """A text's words; signs do not count."""
    return re.sub(r"\W+", " ", text.casefold()).strip()
