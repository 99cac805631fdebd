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
    ONE,
    SEVERAL,
    Form,
    ParsedResponse,
    Wanted,
    nothing_else,
    stated_once,
)
from bench_assets.core.parsing.normalization import in_english, plain
from bench_assets.core.parsing.option_names import (
    NAME,
    Options,
    in_plain_verdicts,
    letter_of,
    marked,
)
from bench_assets.core.parsing.option_tokens import tokens_of
from bench_assets.core.parsing.statements import read
from bench_assets.core.parsing.word_lists import alternatives
from bench_assets.core.parsing.wrapped_answers import boxed, in_json

_FILE = Path(__file__).with_name("option_forms.txt")
_WORDS = _FILE.with_name("words.txt")
_LEAD = re.compile(alternatives(_FILE, "before an answer alone"), re.IGNORECASE)
_LEFT_OPEN = re.compile(alternatives(_FILE, "left open").replace("@", f"({NAME})"), re.IGNORECASE)
_LETTERS_ALONE = re.compile(rf"\W*[A-M](?:[\s,、&{NAME[1:-1]}]+[A-M])*[\s,、&{NAME[1:-1]}]*\.?")
_SMALL_ALONE = re.compile(r"[a-m](?:[\s,、]+[a-m])+")
_SLASHES = re.compile(  # several right options: "A/C/D", "the answer is A/C"; "选A/B" is open
    r"(?<![A-Za-z/])(?:[A-M](?:/[A-M]){2,}|(?<![\u4e00-\u9fff])[A-M]/[A-M])(?![A-Za-z/])"
)
_TICK_BESIDE_A_WORD = re.compile(  # or its Chinese translation: "right (正确)"
    r"(?<=\w) ?[√×](?!\w)|[√×] ?(?=\w)|(?<=right) ?\((?:正确|对)\)|(?<=wrong) ?\((?:错误?)\)",
    re.IGNORECASE,
)
_QUALIFIES = re.compile(
    rf"{alternatives(_WORDS, 'contrast')}"
    r"|\b(?:should|would|could|must|needs?|except|only|part(?:ly|ial\w*)|almost|nearly|mostly|somewhat)\b|部分|基本|大致|只|是否|需要",
    re.IGNORECASE,
)
_IN_PART = re.compile(alternatives(_WORDS, "hedge / in part"), re.IGNORECASE)
_COORDINATES = re.compile(
    r"[\[(]\s*(?:\w{1,4}\s*[=:]\s*)?-?[\d.]+%?(?:\s*,\s*(?:\w{1,4}\s*[=:]\s*)?-?[\d.]+%?)+\s*[\])]"
)
_LEAVING_OPEN = ("hedge", "if")
_INITIALS = {"T": "√", "F": "×"}  # true, false
_SUM = re.compile(  # only from its first number: long sums would take quadratic time
    r"(?<![\d.])(?<!\d[+×*−-])(?<!\d [+×*−-])(?<!\d[+×*−-] )(?<!\d [+×*−-] )"
    r"\d++(?:\s*+[+×*−-]\s*+\d++)++\s*+=\s*+(\d++)(?!\.?\d)"
)
_SHORT = 64  # characters; responses up to this length are cached
_OF_AN_ANSWER = re.compile(  # words for the judged answer, or a text of at most three words
    r"\b(?:answers?|responses?|predictions?|outputs?|reference|it|they|both|this|that|these|student|model)\b"
    r"|回答|答案|两者|二者|说法|表述|描述|叙述|命题|本题|该|此|题干"
    r"|\A\W*(?:(?:[A-Za-z]+\W*){1,3}\Z|[\u4e00-\u9fff]{1,6}\W*\Z|(?:yes|no)\b|(?:是的?|否|不是?)[,.。])",
    re.IGNORECASE,
)
_SPEECH = r"(?:“[^”\n]{1,120}”|\"[^\"\n]{1,120}\"|(?<!\w)'[^'\n]{1,120}'(?!\w)|「[^」\n]{1,120}」)"
_SPEAKS = alternatives(_FILE, "speech of another")
_SPEECH_OF_ANOTHER = re.compile(  # "“B,” the boy says", "the boy says: “B.”"
    rf"{_SPEECH},?\s*(?:{_SPEAKS})|(?:{_SPEAKS})[:,]?\s*{_SPEECH}", re.IGNORECASE
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
    read_one = _remembered if len(response) <= _SHORT else _read_choice
    return read_one(response, tuple(options))


def read_choices(response: str, options: Options, wanted: Wanted = "right") -> Choices:
    """Read the options that a response commits to, where several may be right.

    Args:
        response: As in ``read_choice``.
        options: The options of the question.
        wanted: Which options the question asks for.
    """
    found, text = _decided(response, options, wanted, SEVERAL)
    if found.letters and _leaves_open(text, found.letters):
        return Choices("", f"names {found.letters}, and leaves another open")
    return found


def _read_choice(response: str, texts: tuple[str, ...]) -> Choice:
    options = Options(len(texts), texts)
    (letters, why), text = _decided(response, options, "right", ONE)
    if len(letters) != 1:
        found = sorted(set(letters or map(letter_of, re.findall(NAME, text))))
        named = " and ".join(f"({letter})" for letter in found)
        return Choice(None, f"names {named or 'no option'}")
    if _leaves_open(text, letters):
        return Choice(None, f"names ({letters}), and leaves another open")
    if letters not in options.letters:
        return Choice(None, f"({letters}) is not offered")
    return Choice(letters, why)


_remembered = lru_cache(maxsize=8192)(_read_choice)


def _decided(
    response: str, options: Options, wanted: Wanted, forms: Sequence[tuple[str, Form]]
) -> tuple[Choices, str]:
    """The options that a response commits to, and its text with the options marked."""
    if forms is SEVERAL:
        response = _SLASHES.sub(lambda found: found[0].replace("/", "、"), response)
    if wrapped := _wrapped(response, options):
        return wrapped
    text = _prepared(response, options)
    if _LETTERS_ALONE.fullmatch(text):
        return Choices("", "letters of which one is not offered"), text
    if (found := nothing_else(_LEAD.sub("", text.strip()))) is not None:
        return Choices(found, "nothing but the answer"), text
    tokens = tokens_of(text)
    parsed = ParsedResponse(text, tokens, read(tokens, options.sides), options, wanted)
    if parsed.said.withdrawn_at > max((one.start for one in tokens if one.letters), default=-1):
        return Choices("", "takes its answer back"), text
    for why, form in forms:
        found = form(parsed)
        if found or (found == "" and (forms is SEVERAL or form is stated_once)):
            return Choices(found, why), text
    related = in_plain_verdicts(text) if _judges_silently(parsed) else text
    return _decided(related, options, wanted, forms) if related != text else (Choices("", ""), text)


def _judges_silently(response: ParsedResponse) -> bool:
    """Whether a verdict is asked for and the response implies one without naming it."""
    said = response.said
    silent = not (said.chosen or said.open or said.refuses)
    holds = not any(one.kind in _LEAVING_OPEN for one in response.tokens)
    told = _OF_AN_ANSWER.search(response.text) and not _QUALIFIES.search(response.text)
    return response.options.judges and silent and holds and bool(told)


def _wrapped(response: str, options: Options) -> tuple[Choices, str] | None:
    """Read a JSON object, or a LaTeX box that holds only options; None if there is neither."""
    if (written := in_json(response)) is not None:
        text = _prepared(written, options)
        found = nothing_else(text)
        if not found and options.sides:  # {"correct": true}
            found = _decided(written, options, "right", ONE)[0].letters
        return Choices(found or "", "an object"), text
    text = _prepared(boxed(response), options)
    found = nothing_else(text) if text else None
    return None if found is None else (Choices(found, "a box"), text)


def _prepared(text: str, options: Options) -> str:
    said = _SPEECH_OF_ANOTHER.sub("", plain(text))
    if options.judges:
        said = _INITIALS.get(said.strip(" .。()"), said)
    if _SMALL_ALONE.fullmatch(said):
        said = said.upper()
    if not any(map(_COORDINATES.search, options.texts)):
        said = _COORDINATES.sub("", _SUM.sub(r", so: \1", said))
    if options.sides:
        said = _IN_PART.sub("unclear", _TICK_BESIDE_A_WORD.sub("", said))  # "Yes √"
    in_latin = bool(options.texts) and "".join(options.texts).isascii()
    return marked(in_english(said) if in_latin and not said.isascii() else said, options)


def _leaves_open(text: str, letters: str) -> bool:
    """Whether the text after the last mention of these letters leaves another option open."""
    ends = [found.end() for found in re.finditer(NAME, text) if letter_of(found[0]) in letters]
    after = text[ends[-1] :] if ends else ""
    return any(
        letter_of(name) not in letters
        for found in _LEFT_OPEN.finditer(after)
        for name in found.groups()
        if name
    )
