"""Splits English captions into tokens as the Penn Treebank does, for BLEU, ROUGE-L and CIDEr.

COCO's caption evaluation tokenises with Stanford's PTBTokenizer 3.4.1, a Java program, lower-cases
and drops punctuation. This module gives the same for the plain English of captions and answers,
without Java; ``ptb_words.json`` holds the words with a special treatment.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

_LISTS: dict[str, Any] = json.loads(
    Path(__file__).with_name("ptb_words.json").read_text(encoding="utf-8")
)
_DROPPED = frozenset(_LISTS["dropped"])
_SPELLINGS = str.maketrans(_LISTS["written_as"])
_EMOJI = re.compile("[\U00010000-\U0010ffff]")  # no tokens, even inside a word
_MAX_SPLIT_LENGTH = 1000  # characters that are split at once; no word is longer
_BRACKETS = str.maketrans(_LISTS["brackets"])


def tokenize(text: str) -> list[str]:
    """Split a text into lower-case tokens; punctuation is dropped, brackets are not.

    >>> tokenize("A U.S. flag isn't here (in 1999), is it?")
    ['a', 'u.s.', 'flag', 'is', "n't", 'here', '-lrb-', 'in', '1999', '-rrb-', 'is', 'it']
    """
    return list(_tokens(_EMOJI.sub(" ", text.translate(_SPELLINGS))))


def _tokens(text: str) -> Iterator[str]:
    for chunk in _CHUNK.finditer(text):
        if chunk["whole"]:
            yield chunk[0].lower()
        else:
            word = chunk[0]
            for start in range(0, len(word), _MAX_SPLIT_LENGTH):
                yield from _split(word[start : start + _MAX_SPLIT_LENGTH])


@lru_cache(maxsize=1 << 16)
def _split(chunk: str) -> tuple[str, ...]:
    """Split one whitespace-separated token; cached, because captions repeat most of them."""
    return tuple(
        token
        for match in _TOKEN.finditer(chunk)
        for token in _match_tokens(match)
        if token not in _DROPPED
    )


def _match_tokens(match: re.Match[str]) -> Iterable[str]:
    """Tokens of a match of ``_TOKEN``, as its group says; dropped ones included."""
    token = match[0].lower()
    match match.lastgroup:
        case "apart":
            return tuple(_LISTS["split"][token])
        case "dashes":
            return ("--",)
        case "mark" | "face":
            return (token.translate(_BRACKETS),)
    return (token,)


def _alternatives(name: str) -> str:
    words = sorted(_LISTS[name], key=len, reverse=True)
    return f"(?:{'|'.join(re.escape(word) for word in words)})"


_LETTER = r"[^\W\d_]"
_END = r"(?![^\W_])"
_CLITIC = rf"(?:n't|'(?:s|m|d|re|ve|ll)){_END}"
_PART = rf"(?:(?!{_CLITIC})[^\W_])+"  # "flag", "4x4", "1999"; "is" of "isn't"

# What follows an initial, or an abbreviation before a number, decides whether a sentence ends.
# At the end of a text the Java program looks at the next line of its file; here a sentence ends.
_CHUNK = re.compile(
    rf"(?P<whole>{_alternatives('abbreviations_before_numbers')}\.(?=\s+\d)"
    rf"|{_LETTER}\.(?=\s+(?!(?-i:{_alternatives('sentence_starts')})\s)\S))|\S+",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    "|".join(
        [
            # One token whatever is in it: addresses, names, mark-up, faces.
            r"""https?://[^\s"<>|(){}]*[^\s"<>|(){}.,!?;:'-]""",
            rf"(?:[^\W_]+[.-])+{_alternatives('domains')}{_END}(?:/[^\s<>|()]*[^\W_])?",
            r"[\w.+-]+@(?:[\w-]+\.)+[a-z]+",
            rf"[@#](?={_LETTER})\w+",
            r"</?[a-z][^\s<>]*>|-[lr][rcs]b-",
            rf"(?P<face>{_alternatives('faces')})(?![^\W_])",
            rf"(?:c\+\+|[cf]\#){_END}|(?:us|[ac]|hk|nz)\$(?!{_LETTER})",
            # What an apostrophe belongs to.
            rf"(?P<apart>{_alternatives('split')}){_END}",
            rf"{_CLITIC}|[cdlo]'{_LETTER}{{2,}}{_END}|{_alternatives('with_apostrophe')}|'\d\ds?{_END}",
            # What a full stop belongs to.
            rf"(?:{_LETTER}\.){{2,}}(?:-{_PART})*(?!{_LETTER})",
            rf"(?:{_alternatives('abbreviations')}|(?-i:{_alternatives('abbreviations_with_capital')}))\.{_END}",
            rf"[^\W_]+\.(?=[,;:])|{_LETTER}\.(?=[\"')])",
            rf"{_LETTER}{{2,}}(?:\.{_LETTER}+)+|{_LETTER}(?:\.{_LETTER}+)+",
            # Numbers, words, and everything else.
            rf"(?>[+-]?\d+(?:[.,:]\d+)*(?:/\d+)*)(?:-{_PART})*{_END}",
            r"[+-]?\d+(?:[.,:]\d+)+|[.,:]\d+(?:[.,:]\d+)*|-\d+",
            rf"(?-i:[A-Z])&(?-i:[A-Z]){_END}|at&t",
            rf"{_PART}(?:[-_/]{_PART})*",
            r"(?P<dashes>--+)",
            r"(?P<mark>\.\.\.|[!?]+|''|``|\*+|<<|>>|_+|\S)",
        ]
    ),
    re.IGNORECASE,
)
