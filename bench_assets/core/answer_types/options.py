"""Parses the options and the answer key of a row, in the common notations, also inside a text."""

import re
from collections.abc import Iterator, Sequence
from math import isnan
from string import ascii_uppercase
from typing import NamedTuple

from bench_assets.core.answer_types.definition import AnswerFormat, Gold
from bench_assets.core.reading.choices import MAX_OPTIONS, parse_letters
from bench_assets.core.reading.json_values import decode_json
from bench_assets.core.schema.errors import SettingsError, SourceError

_LETTER_STYLES = (
    re.compile(r"(?:(?<=\s)|^)(?<!图 )(?<!igure )(?<!ig\. )\(([A-Za-z])\)\s*"),
    re.compile(r"^[ \t]*([A-Za-z])[.:)．、：]\s*", re.M),
    re.compile(
        r"(?<!\([A-Z]\) )((?<![A-Za-z0-9.(（])A(?=.\s)|(?<![A-Za-z.(（])[B-Z])[.:)．、]"
        r"(?:\s+|(?=[$\\\d]|[^\x00-\x7f]))"
    ),
)
_OWN_LETTER = re.compile(r"\s*(?:\(([A-Z])\)|([A-Z])[.:)、])\s*(\S.*)", re.DOTALL)
_HALF_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_OPTIONS_HEADING = re.compile(r"\s*\b(?:options?|choices)\s*(?:are)?\s*:?\s*\Z", re.I)
_MIN_OPTIONS = 2  # in a text; a single letter is no list of options


def split_options(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Split a text and the options in it; () if it has no consecutive letters from A on.

    The last option ends with its line. Text after the options stays in the text.

    >>> split_options("Is it open? (a) Open (b) Closed")
    ('Is it open?', ('Open', 'Closed'))
    >>> split_options("Which?\nA. Left\nB. Right\n\nAnswer with the letter.")[0]
    'Which?\n\nAnswer with the letter.'
    >>> split_options("Where?\nOptions: A: on the bed., B: in a box.")[1]
    ('on the bed.', 'in a box.')
    """
    runs = [run for style in _LETTER_STYLES for run in _runs(list(style.finditer(text)))]
    for marks in sorted(runs, key=lambda run: -run[-1].start()):
        ends = [mark.start() for mark in marks[1:]]
        last = re.compile(r"\n|\Z").search(text, marks[-1].end())
        end = last.start() if last else len(text)
        spans = zip((mark.end() for mark in marks), (*ends, end), strict=True)
        options = tuple(text[start:stop].strip().rstrip(",;").rstrip() for start, stop in spans)
        if all(options):
            before = _OPTIONS_HEADING.sub("", text[: marks[0].start()]).strip()
            after = text[end:].strip()
            return "\n\n".join(filter(None, (before, after))), options
    return text, ()


def _runs(marks: Sequence[re.Match[str]]) -> Iterator[Sequence[re.Match[str]]]:
    """Runs of consecutive letters from A on, the last run first; none that lacks a letter."""
    letters = [ord(mark[1].upper()) - ord("A") for mark in marks]
    for start in reversed([n for n, letter in enumerate(letters) if letter == 0]):
        following = enumerate(letters[start:])
        size = next((n for n, letter in following if letter != n), len(letters) - start)
        is_cut = letters[start + size : start + size + 1] == [size + 1]
        if size >= _MIN_OPTIONS and not is_cut:
            yield marks[start : start + size]


_LETTER = re.compile(r"\(?([A-Za-z])[).:]?")
_INDEX = re.compile(r"[0-9]{1,3}")
_DEFAULT_FORMATS: tuple[AnswerFormat, ...] = ("letters", "indices", "texts")  # tried by default
_LIST = re.compile(r"\s*[\[({]")


def format_cell(value: object) -> str:
    """Format a cell as text: integers without a point, booleans as "yes" and "no"; "" if empty.

    Raises:
        SourceError: If it is neither text nor number, or has a lone surrogate.

    >>> format_cell(4.0), format_cell(True), format_cell(None), format_cell(" left ")
    ('4', 'yes', '', 'left')
    """
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return str(value)  # exactly, however long: two ids may differ in the last digit
        case float():  # tables write an empty cell among numbers as NaN
            return "" if isnan(value) else f"{value:.15g}"
        case str():
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise SourceError(f"a lone surrogate in {value!a:.60}")
            return value.strip()
    raise SourceError(f"{value!r:.60} is not a text or a number")


class ListedOptions(NamedTuple):
    """The options of a row, and what their cell says of the key."""

    texts: tuple[str, ...] = ()
    key: object = None  # the scores of the options
    answers: AnswerFormat = ""  # numbered options: indices from 1; out of order: letters


def read_options(cells: Sequence[object]) -> ListedOptions:
    """Parse the options: one cell with all of them, or one cell each (trailing ones may be empty).

    A single cell is a list, an object with letters or numbers from 1 as names, with lists ``label``
    and ``text`` or with the scores of options (``{"dog": 1, "cat": 0}``), a list of objects
    ``label`` and ``text``, one of these as text, or a text such as ``(a) x (b) y``. There are none
    in a row without options. If all have their own letters, "(A) 5", "B. dog", these are dropped,
    and sort the options.

    Raises:
        SourceError: If there is one option, or more than 26.

    >>> read_options([["A. cat", "C. cow", "B. dog"]])
    ListedOptions(texts=('cat', 'dog', 'cow'), key=None, answers='letters')
    """
    listed = parse_list(cells[0]) if len(cells) == 1 else cells
    if isinstance(listed, str):
        rest, split = split_options(listed)
        listed = listed if rest else split or listed
    of_names = _list_named(named) if (named := _options_by_name(listed)) else ListedOptions()
    listed = of_names.texts or listed
    if not isinstance(listed, list | tuple) and format_cell(listed):
        raise SourceError(f"options {listed!r:.60} (expected a list)")
    texts = listed if isinstance(listed, list | tuple) else ()
    options = list(map(format_cell, texts))
    while options and not options[-1]:
        options.pop()
    if len(options) == 1:
        raise SourceError(f"options {options} (expected at least 2)")
    if len(options) > MAX_OPTIONS:
        raise SourceError(f"{len(options)} options; at most {MAX_OPTIONS} can be read in responses")
    matches = [_OWN_LETTER.fullmatch(option.translate(_HALF_WIDTH)) for option in options]
    own = {m[1] or m[2]: o[m.start(3) :] for m, o in zip(matches, options, strict=True) if m}
    if not options or {*own} != {*ascii_uppercase[: len(options)]}:
        return of_names._replace(texts=tuple(options))
    texts = tuple(own[letter] for letter in sorted(own))
    # An index may count them as listed, or by their letters.
    return ListedOptions(texts, answers="" if [*own] == sorted(own) else "letters")


def _options_by_name(listed: object) -> dict[str, object]:
    """Options by name, of a cell that has them so; {} otherwise."""
    match listed:
        case {"label": list(labels), "text": list(texts), **others} if not others:
            return dict(zip(map(str, labels), texts, strict=False))
        case [{"label": _, "text": _}, *_]:
            return {str(e.get("label")): e.get("text") for e in listed if isinstance(e, dict)}
        case dict():
            return {str(name): option for name, option in listed.items() if option is not None}
    return {}


def _list_named(named: dict[str, object]) -> ListedOptions:
    """Options by the order of their names; names with scores are the options."""
    names = sorted(named, key=lambda name: (len(name), name))
    is_lettered = "".join(map(str.upper, names)) == ascii_uppercase[: len(names)]
    scores = [score for score in named.values() if isinstance(score, int | float)]
    if not is_lettered and [score for score in scores if 0 <= score <= 1] == [*named.values()]:
        return ListedOptions(tuple(named), key=named)
    is_numbered = names == [str(n + 1) for n in range(len(names))]
    if not (is_lettered or is_numbered):
        raise SourceError(f"options {named!r:.60} (expected the names A, B, C, ...)")
    texts = tuple(format_cell(named[name]) for name in names)
    return ListedOptions(texts, answers="indices from 1" if is_numbered else "")


def read_answer(value: object, options: Sequence[str], answers: AnswerFormat = "") -> Gold:
    """Parse the answer key: one option, or a set of options.

    A list of as many 0 and 1 as there are options marks the right ones, as scores of options do.

    >>> read_answer([0, 1, 0], ["cat", "dog", "cow"]).answer
    ('B',)

    Raises:
        SourceError: If it is missing, matches no option, or is ambiguous.
        SettingsError: If an index equals the number of options: then all may count from 1.
    """
    is_option = isinstance(value, str) and value.strip() in options  # "(2, 3)" may be one
    listed = value if is_option else parse_list(value)
    several, is_scored = isinstance(listed, list | tuple), isinstance(listed, dict)
    keys = [*listed] if isinstance(listed, list | tuple) else [listed]
    marks = [*listed.values()] if isinstance(listed, dict) else keys
    can_be_marks = is_scored or (several and answers in ("", "marks"))
    if can_be_marks and len(marks) == len(options) and all(m in (0, 1) for m in marks):
        if not answers and marks in ([0, 1], [1, 0]) and type(marks[0]) is int and several:
            raise SourceError(  # both options, or one
                f"answer {marks} is ambiguous in {list(options)}: set answers = "
                '"indices" or "marks"'
            )
        keys = [letter for letter, mark in zip(ascii_uppercase, marks, strict=False) if mark]
        if not keys or (len(keys) > 1 and is_scored):
            raise SourceError(f"{len(keys)} options have the score 1 (expected one)")
        several, answers = len(keys) > 1, "letters"
    keys = [key for key in keys if format_cell(key)]
    if not keys:
        raise SourceError("no answer")
    written = format_cell(keys[0])
    if len(keys) == 1 and answers in ("", "letters") and written not in options:
        letters = parse_letters(written.translate(_HALF_WIDTH), ascii_uppercase[: len(options)])
        if letters and len(letters) > 1:
            return Gold("choices", letters, tuple(options))
    letters = tuple(sorted({_letter(key, options, answers) for key in keys}))
    return Gold("choices" if several else "choice", letters, tuple(options))


def parse_list(value: object) -> object:
    """Parse a list or object written as text, in JSON or Python's notation; others as they are."""
    parsed = decode_json(value) if isinstance(value, str) and _LIST.match(value) else value
    return parsed if isinstance(parsed, list | tuple | dict) else value


def _letter(value: object, options: Sequence[str], answers: AnswerFormat) -> str:
    """Find the option of an answer key; refuses an ambiguous one."""
    forms = [answers] if answers else _DEFAULT_FORMATS
    candidates = {form: n for form, n in _places(value, options).items() if form in forms}
    places = {form: n for form, n in candidates.items() if 0 <= n < len(options)}
    if len(set(places.values())) == 1:
        return ascii_uppercase[next(iter(places.values()))]
    quoted = f"answer {format_cell(value)!r:.60}"
    if places:
        formats = " or ".join(f'"{form}"' for form in places)
        raise SourceError(f"{quoted} is ambiguous in {list(options)}: set answers = {formats}")
    if not answers and candidates.get("indices") == len(options):
        raise SettingsError(
            f"{quoted} of {len(options)} options: if they are counted from 1, set "
            'answers = "indices from 1", else "indices"'
        )
    raise SourceError(f"{quoted} is none of the options {list(options)}")


def _places(value: object, options: Sequence[str]) -> dict[AnswerFormat, int]:
    """Index of the option under each format of answers, from 0."""
    text = format_cell(value).translate(_HALF_WIDTH)
    match = _OWN_LETTER.fullmatch(text)
    if match and text not in options and match[3] in options:  # "B. dog", of options with letters
        text = match[1] or match[2]
    positions: dict[AnswerFormat, int] = {}
    if letter := _LETTER.fullmatch(text):
        positions["letters"] = ascii_uppercase.index(letter[1].upper())
    if _INDEX.fullmatch(text):
        positions["indices"] = int(text)
        positions["indices from 1"] = int(text) - 1
    written = [option.translate(_HALF_WIDTH) for option in options]
    folded = [option.casefold() for option in written]
    matches = [n for n, option in enumerate(written) if option == text]
    matches = matches or [n for n, option in enumerate(folded) if option == text.casefold()]
    if matches and len({options[match] for match in matches}) == 1 and "<image" not in text:
        positions["texts"] = matches[0]  # equal options are equally right
    return positions
