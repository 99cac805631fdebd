"""Multiple-choice parser: letters for options, and the letters that responses choose.

A response is normalized, the options that it names are marked, and its sentences are parsed into
statements with their scope. The answer forms are tried from the strictest (nothing but the answer)
to the loosest (only one option is mentioned); the first that matches decides. A wrong letter is
worse than none: options that are denied, hedged, asked about, refused, withdrawn or cut off are not
chosen.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

from bench_assets.core.parsing.answer_forms import (
    MULTIPLE_ANSWER_FORMS,
    SINGLE_ANSWER_FORMS,
    Form,
    ParsedResponse,
    RequestedKind,
    only_options,
    unrevised_choice,
)
from bench_assets.core.parsing.normalization import normalize_response, translate_chinese
from bench_assets.core.parsing.option_names import (
    NAME,
    Options,
    letter_of,
    mark_options,
    reduce_to_verdict,
)
from bench_assets.core.parsing.option_tokens import tokenize_options
from bench_assets.core.parsing.statements import read_statements
from bench_assets.core.parsing.word_lists import alternatives
from bench_assets.core.parsing.wrapped_answers import json_answer, last_boxed_answer

_FILE = Path(__file__).with_name("option_forms.txt")
_WORDS = _FILE.with_name("words.txt")
_LEAD = re.compile(alternatives(_FILE, "before an answer alone"), re.IGNORECASE)
_OPEN_ALTERNATIVE = re.compile(
    alternatives(_FILE, "left open").replace("@", f"({NAME})"), re.IGNORECASE
)
_LETTERS_ONLY = re.compile(rf"\W*[A-M](?:[\s,、&{NAME[1:-1]}]+[A-M])*[\s,、&{NAME[1:-1]}]*\.?")
_LOWERCASE_LETTERS = re.compile(r"[a-m](?:[\s,、]+[a-m])+")
_SLASHES = re.compile(  # several right options: "A/C/D", "the answer is A/C"; "选A/B" is open
    r"(?<![A-Za-z/])(?:[A-M](?:/[A-M]){2,}|(?<![\u4e00-\u9fff])[A-M]/[A-M])(?![A-Za-z/])"
)
_REDUNDANT_TICK = re.compile(  # or its Chinese translation: "right (正确)"
    r"(?<=\w) ?[√×](?!\w)|[√×] ?(?=\w)|(?<=right) ?\((?:正确|对)\)|(?<=wrong) ?\((?:错误?)\)",
    re.IGNORECASE,
)
_QUALIFIES = re.compile(
    rf"{alternatives(_WORDS, 'contrast')}"
    r"|\b(?:should|would|could|must|needs?|except|only|part(?:ly|ial\w*)|almost|nearly|mostly|somewhat)\b|部分|基本|大致|只|是否|需要",
    re.IGNORECASE,
)
_PARTIAL = re.compile(alternatives(_WORDS, "hedge / in part"), re.IGNORECASE)
_COORDINATES = re.compile(
    r"[\[(]\s*(?:\w{1,4}\s*[=:]\s*)?-?[\d.]+%?(?:\s*,\s*(?:\w{1,4}\s*[=:]\s*)?-?[\d.]+%?)+\s*[\])]"
)
_OPEN_KINDS = ("hedge", "if")
_INITIALS = {"T": "√", "F": "×"}  # true, false
_SUM = re.compile(  # only from its first number: long sums would take quadratic time
    r"(?<![\d.])(?<!\d[+×*−-])(?<!\d [+×*−-])(?<!\d[+×*−-] )(?<!\d [+×*−-] )"
    r"\d++(?:\s*+[+×*−-]\s*+\d++)++\s*+=\s*+(\d++)(?!\.?\d)"
)
_MAX_CACHED_LENGTH = 64  # characters; responses up to this length are cached
_JUDGED_ANSWER = re.compile(  # words for the judged answer, or a text of at most three words
    r"\b(?:answers?|responses?|predictions?|outputs?|reference|it|they|both|this|that|these|student|model)\b"
    r"|回答|答案|两者|二者|说法|表述|描述|叙述|命题|本题|该|此|题干"
    r"|\A\W*(?:(?:[A-Za-z]+\W*){1,3}\Z|[\u4e00-\u9fff]{1,6}\W*\Z|(?:yes|no)\b|(?:是的?|否|不是?)[,.。])",
    re.IGNORECASE,
)
_SPEECH = r"(?:“[^”\n]{1,120}”|\"[^\"\n]{1,120}\"|(?<!\w)'[^'\n]{1,120}'(?!\w)|「[^」\n]{1,120}」)"
_SPEECH_VERB = alternatives(_FILE, "speech of another")
_REPORTED_SPEECH = re.compile(  # "“B,” the boy says", "the boy says: “B.”"
    rf"{_SPEECH},?\s*(?:{_SPEECH_VERB})|(?:{_SPEECH_VERB})[:,]?\s*{_SPEECH}", re.IGNORECASE
)


class Choice(NamedTuple):
    """The option that a response commits to, if any."""

    letter: str | None
    why: str  # the form it was read from, or why there is no letter


class Choices(NamedTuple):
    """The options that a response commits to, in the order named; "" if undecided."""

    letters: str
    why: str


def lettered(options: Sequence[str]) -> str:
    r"""Write options one per line, as the model sees them.

    >>> lettered(("left", "right"))
    '(A) left\n(B) right'
    """
    return "\n".join(f"({a}) {o}" for a, o in zip(ascii_uppercase, options, strict=False))


def read_choice(response: str, options: Sequence[str]) -> Choice:
    """Read which option a response commits to, by letter, text or place in the list.

    Args:
        response: The response, in English or Chinese, with or without markup.
        options: The texts of the options as shown, at most 13; "" for one that has only a letter.

    >>> read_choice("Turning clockwise, so the camera moves **left**.", ("left", "right"))
    Choice(letter='A', why='a conclusion')
    >>> read_choice("Either (A) or (B).", ("left", "right"))
    Choice(letter=None, why='names (A) and (B)')
    """
    read_one = _cached_read_choice if len(response) <= _MAX_CACHED_LENGTH else _read_choice
    return read_one(response, tuple(options))


def read_choices(response: str, options: Options, wanted: RequestedKind = "right") -> Choices:
    """Read the options that a response commits to, where several may be right.

    Args:
        response: As in ``read_choice``.
        options: The options of the question.
        wanted: Which options the question asks for.
    """
    found, text = _decide(response, options, wanted, MULTIPLE_ANSWER_FORMS)
    if found.letters and _has_open_alternative(text, found.letters):
        return Choices("", f"names {found.letters}, and leaves another open")
    return found


def _read_choice(response: str, texts: tuple[str, ...]) -> Choice:
    options = Options(len(texts), texts)
    (letters, why), text = _decide(response, options, "right", SINGLE_ANSWER_FORMS)
    if len(letters) != 1:
        found = sorted(set(letters or map(letter_of, re.findall(NAME, text))))
        named = " and ".join(f"({letter})" for letter in found)
        return Choice(None, f"names {named or 'no option'}")
    if _has_open_alternative(text, letters):
        return Choice(None, f"names ({letters}), and leaves another open")
    if letters not in options.letters:
        return Choice(None, f"({letters}) is not offered")
    return Choice(letters, why)


_cached_read_choice = lru_cache(maxsize=8192)(_read_choice)


def _decide(
    response: str, options: Options, wanted: RequestedKind, forms: Sequence[tuple[str, Form]]
) -> tuple[Choices, str]:
    """The options that a response commits to, and its text with the options marked."""
    if forms is MULTIPLE_ANSWER_FORMS:
        response = _SLASHES.sub(lambda found: found[0].replace("/", "、"), response)
    if wrapped := _read_wrapped(response, options):
        return wrapped
    text = _mark_options(response, options)
    if _LETTERS_ONLY.fullmatch(text):
        return Choices("", "letters of which one is not offered"), text
    if (found := only_options(_LEAD.sub("", text.strip()))) is not None:
        return Choices(found, "nothing but the answer"), text
    tokens = tokenize_options(text)
    parsed = ParsedResponse(text, tokens, read_statements(tokens, options.sides), options, wanted)
    if parsed.said.withdrawn_at > max((one.start for one in tokens if one.letters), default=-1):
        return Choices("", "takes its answer back"), text
    for why, form in forms:
        found = form(parsed)
        if found or (found == "" and (forms is MULTIPLE_ANSWER_FORMS or form is unrevised_choice)):
            return Choices(found, why), text
    related = reduce_to_verdict(text) if _implies_verdict(parsed) else text
    return _decide(related, options, wanted, forms) if related != text else (Choices("", ""), text)


def _implies_verdict(response: ParsedResponse) -> bool:
    """Whether a verdict is asked for and the response implies one without naming it."""
    statements = response.said
    silent = not (statements.chosen or statements.open or statements.refuses)
    holds = not any(one.kind in _OPEN_KINDS for one in response.tokens)
    judged = _JUDGED_ANSWER.search(response.text) and not _QUALIFIES.search(response.text)
    return response.options.judges and silent and holds and bool(judged)


def _read_wrapped(response: str, options: Options) -> tuple[Choices, str] | None:
    """Read a JSON object, or a LaTeX box that holds only options; None if there is neither."""
    if (written := json_answer(response)) is not None:
        text = _mark_options(written, options)
        found = only_options(text)
        if not found and options.sides:  # {"correct": true}
            found = _decide(written, options, "right", SINGLE_ANSWER_FORMS)[0].letters
        return Choices(found or "", "an object"), text
    text = _mark_options(last_boxed_answer(response), options)
    found = only_options(text) if text else None
    return None if found is None else (Choices(found, "a box"), text)


def _mark_options(text: str, options: Options) -> str:
    normalized = _REPORTED_SPEECH.sub("", normalize_response(text))
    if options.judges:
        normalized = _INITIALS.get(normalized.strip(" .。()"), normalized)
    if _LOWERCASE_LETTERS.fullmatch(normalized):
        normalized = normalized.upper()
    if not any(map(_COORDINATES.search, options.texts)):
        normalized = _COORDINATES.sub("", _SUM.sub(r", so: \1", normalized))
    if options.sides:
        normalized = _PARTIAL.sub("unclear", _REDUNDANT_TICK.sub("", normalized))  # "Yes √"
    in_latin = bool(options.texts) and "".join(options.texts).isascii()
    return mark_options(
        translate_chinese(normalized) if in_latin and not normalized.isascii() else normalized,
        options,
    )


def _has_open_alternative(text: str, letters: str) -> bool:
    """Whether the text after the last mention of these letters leaves another option open."""
    ends = [found.end() for found in re.finditer(NAME, text) if letter_of(found[0]) in letters]
    after = text[ends[-1] :] if ends else ""
    return any(
        letter_of(name) not in letters
        for found in _OPEN_ALTERNATIVE.finditer(after)
        for name in found.groups()
        if name
    )
