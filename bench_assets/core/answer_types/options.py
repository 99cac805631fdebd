"""Parses the options and the answer key of a row, in common notations, also inside a text."""

import re
from collections.abc import Iterator, Mapping, Sequence
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
_MIN_OPTIONS = 2  # options in a text; a single letter is no list of options


def split_options(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Split a text from the options in it; () if it has no consecutive letters from A on.

    The last option ends with its line. Text after the options stays in the text.

    >>> split_options("Is it open? (a) Open (b) Closed")
    ('Is it open?', ('Open', 'Closed'))
    >>> split_options("Which?\nA. Left\nB. Right\n\nAnswer with the letter.")[0]
    'Which?\n\nAnswer with the letter.'
    >>> split_options("Where?\nOptions: A: on the bed., B: in a box.")[1]
    ('on the bed.', 'in a box.')
    """
    runs = [run for style in _LETTER_STYLES for run in _runs(list(style.finditer(text)))]
    for run in sorted(runs, key=lambda run: -run[-1].start()):
        line_end = text.find("\n", run[-1].end())
        end = len(text) if line_end == -1 else line_end
        stops = [*(letter.start() for letter in run[1:]), end]
        spans = zip((letter.end() for letter in run), stops, strict=True)
        options = tuple(text[start:stop].strip().rstrip(",;").rstrip() for start, stop in spans)
        if all(options):
            before = _OPTIONS_HEADING.sub("", text[: run[0].start()]).strip()
            after = text[end:].strip()
            return "\n\n".join(filter(None, (before, after))), options
    return text, ()


def _runs(letters: Sequence[re.Match[str]]) -> Iterator[Sequence[re.Match[str]]]:
    """Runs of two or more letters from A on, the last run first; A, B, D is none."""
    indices = [*(ascii_uppercase.index(letter[1].upper()) for letter in letters), -1]  # -1: the end
    for start in reversed([position for position, index in enumerate(indices) if index == 0]):
        size = 1
        while indices[start + size] == size:
            size += 1
        skips_letter = indices[start + size] == size + 1
        if size >= _MIN_OPTIONS and not skips_letter:
            yield letters[start : start + size]


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
    """The options of a row, and what their cell tells about the key."""

    texts: tuple[str, ...] = ()
    key: object = None  # the scores of the options
    answers: AnswerFormat = ""  # numbered options: indices from 1; out of order: letters


def read_options(cells: Sequence[object]) -> ListedOptions:
    """Parse the options: one cell with all of them, or one cell each (trailing ones may be empty).

    A single cell is a list, an object with letters or numbers from 1 as names, with lists ``label``
    and ``text`` or with the scores of options (``{"dog": 1, "cat": 0}``), a list of objects
    ``label`` and ``text``, one of these as text, or a text such as ``(a) x (b) y``. There are none
    in a row without options. If all have their own letters, "(A) 5", "B. dog", they are sorted by
    these and lose them.

    Raises:
        SourceError: If there is one option, more than 26, or a cell that is no list of them.

    >>> read_options([["A. cat", "C. cow", "B. dog"]])
    ListedOptions(texts=('cat', 'dog', 'cow'), key=None, answers='letters')
    """
    listed = parse_list(cells[0]) if len(cells) == 1 else cells
    if isinstance(listed, str):
        rest, split = split_options(listed)
        listed = split if split and not rest else listed
    by_name = _options_by_name(listed)
    named = _sort_by_name(by_name) if by_name else ListedOptions()
    listed = named.texts or listed
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
    return _without_own_letters(options) or named._replace(texts=tuple(options))


def _without_own_letters(options: Sequence[str]) -> ListedOptions | None:
    """Options sorted by their own letters, without these; None unless they have all letters."""
    matches = [_OWN_LETTER.fullmatch(option.translate(_HALF_WIDTH)) for option in options]
    by_letter = {m[1] or m[2]: o[m.start(3) :] for m, o in zip(matches, options, strict=True) if m}
    if not options or {*by_letter} != {*ascii_uppercase[: len(options)]}:
        return None
    texts = tuple(by_letter[letter] for letter in sorted(by_letter))
    is_sorted = [*by_letter] == sorted(by_letter)  # else an index is ambiguous
    return ListedOptions(texts, answers="" if is_sorted else "letters")


def _options_by_name(listed: object) -> dict[str, object]:
    """Options by the names that their cell gives them; {} if it gives none."""
    match listed:
        case {"label": list(labels), "text": list(texts), **others} if not others:
            by_name = dict(zip(map(str, labels), texts, strict=False))
            n_options = max(len(labels), len(texts))
        case [{"label": _, "text": _}, *_]:
            entries = [entry for entry in listed if isinstance(entry, dict)]
            by_name = {str(entry.get("label")): entry.get("text") for entry in entries}
            n_options = len(listed)
        case dict():
            return {str(name): option for name, option in listed.items() if option is not None}
        case _:
            return {}
    if len(by_name) < n_options:
        raise SourceError(f"options {listed!r:.60} (expected a text for each of different labels)")
    return by_name


def _sort_by_name(by_name: dict[str, object]) -> ListedOptions:
    """List options in the order of their names; names with scores are the options themselves."""
    names = sorted(by_name, key=lambda name: (len(name), name))
    is_lettered = "".join(map(str.upper, names)) == ascii_uppercase[: len(names)]
    has_scores = all(isinstance(o, int | float) and 0 <= o <= 1 for o in by_name.values())
    if has_scores and not is_lettered:
        return ListedOptions(tuple(by_name), key=by_name)
    is_numbered = names == [str(n + 1) for n in range(len(names))]
    if not (is_lettered or is_numbered):
        raise SourceError(f"options {by_name!r:.60} (expected the names A, B, C, ...)")
    texts = tuple(format_cell(by_name[name]) for name in names)
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
    if marked := _marked_letters(listed, options, answers):
        return Gold("choices" if len(marked) > 1 else "choice", marked, options=tuple(options))
    is_set = isinstance(listed, list | tuple)
    entries = listed if isinstance(listed, list | tuple) else [listed]
    keys = [key for key in entries if format_cell(key)]
    if not keys:
        raise SourceError("no answer")
    text = format_cell(keys[0])
    if len(keys) == 1 and answers in ("", "letters") and text not in options:
        letters = parse_letters(text.translate(_HALF_WIDTH), ascii_uppercase[: len(options)])
        if letters and len(letters) > 1:
            return Gold("choices", letters, options=tuple(options))
    letters = tuple(sorted({_option_letter(key, options, answers) for key in keys}))
    return Gold("choices" if is_set else "choice", letters, options=tuple(options))


def _marked_letters(
    listed: object, options: Sequence[str], answers: AnswerFormat
) -> tuple[str, ...]:
    """Letters of the options with the mark or score 1; () if the key has no marks or scores."""
    is_scored, marks = isinstance(listed, dict), list[object]()
    if isinstance(listed, dict):
        marks = _scores_in_order(listed, options, answers)
    elif isinstance(listed, list | tuple) and answers in ("", "marks"):
        marks = [*listed]
    if not marks or len(marks) != len(options) or any(mark not in (0, 1) for mark in marks):
        return ()
    can_be_indices = not is_scored and marks in ([0, 1], [1, 0]) and type(marks[0]) is int
    if can_be_indices and not answers:
        alternatives = 'set answers = "indices" or "marks"'
        raise SourceError(f"answer {marks} is ambiguous in {list(options)}: {alternatives}")
    letters = tuple(letter for letter, mark in zip(ascii_uppercase, marks, strict=False) if mark)
    if not letters or (len(letters) > 1 and is_scored):
        raise SourceError(f"{len(letters)} options have the score 1 (expected one)")
    return letters


def _scores_in_order(
    scores: Mapping[object, object], options: Sequence[str], answers: AnswerFormat
) -> list[object]:
    """Scores in the order of the options, if their names are these or letters; else as listed."""
    by_name = {str(name).strip(): score for name, score in scores.items()}
    notations = [tuple(options), tuple(ascii_uppercase[: len(options)])]
    if answers == "letters":
        notations.reverse()
    for names in notations:
        if by_name.keys() == {*names}:
            return [by_name[name] for name in names]
    return [*scores.values()]


def parse_list(value: object) -> object:
    """Parse a list or object written as text, in JSON or Python's notation; others as they are."""
    parsed = decode_json(value) if isinstance(value, str) and _LIST.match(value) else value
    return parsed if isinstance(parsed, list | tuple | dict) else value


def _option_letter(value: object, options: Sequence[str], answers: AnswerFormat) -> str:
    """Find the letter of the option that a key names; refuse an ambiguous key."""
    formats = [answers] if answers else _DEFAULT_FORMATS
    candidates = {
        name: n for name, n in _index_by_format(value, options).items() if name in formats
    }
    indices = {name: index for name, index in candidates.items() if 0 <= index < len(options)}
    distinct_indices = set(indices.values())
    if len(distinct_indices) == 1:
        return ascii_uppercase[distinct_indices.pop()]
    quoted = f"answer {format_cell(value)!r:.60}"
    if indices:
        alternatives = " or ".join(f'"{name}"' for name in indices)
        raise SourceError(f"{quoted} is ambiguous in {list(options)}: set answers = {alternatives}")
    if not answers and candidates.get("indices") == len(options):
        raise SettingsError(
            f"{quoted} of {len(options)} options: if they are counted from 1, set "
            'answers = "indices from 1", else "indices"'
        )
    raise SourceError(f"{quoted} is none of the options {list(options)}")


def _index_by_format(value: object, options: Sequence[str]) -> dict[AnswerFormat, int]:
    """Index, from 0, of the option that a key names in each format that it can have."""
    text = format_cell(value).translate(_HALF_WIDTH)
    match = _OWN_LETTER.fullmatch(text)
    if match and text not in options and match[3] in options:  # "B. dog", of options with letters
        text = match[1] or match[2]
    indices: dict[AnswerFormat, int] = {}
    if letter := _LETTER.fullmatch(text):
        indices["letters"] = ascii_uppercase.index(letter[1].upper())
    if _INDEX.fullmatch(text):
        indices["indices"] = int(text)
        indices["indices from 1"] = int(text) - 1
    texts = [option.translate(_HALF_WIDTH) for option in options]
    folded = [option.casefold() for option in texts]
    matches = [n for n, option in enumerate(texts) if option == text]
    matches = matches or [n for n, option in enumerate(folded) if option == text.casefold()]
    if matches and len({options[n] for n in matches}) == 1 and "<image" not in text:
        indices["texts"] = matches[0]  # equal options are equally right
    return indices
