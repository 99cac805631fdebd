"""Parses the options and the answer key of a row, in the common notations, also inside a text."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isnan
from string import ascii_uppercase
from typing import NamedTuple

from bench_assets.core.answer_types.definition import AnswerFormat, Gold
from bench_assets.core.reading.choices import MAX_OPTIONS
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
_MIN_OPTIONS = 2
NOT_AVAILABLE = "n/a"
MISSING = frozenset({"", "nan", NOT_AVAILABLE})
"""How tables write that a cell is empty, in lower case."""


class SplitText(NamedTuple):
    """A text and the options that were in it."""

    text: str
    options: tuple[str, ...]


def split_options(text: str) -> SplitText:
    r"""Split the options off a text; () if it has no consecutive letters from A on.

    The last option ends with its line. Text after the options stays in the text.

    >>> split_options("Is it open? (a) Open (b) Closed")
    SplitText(text='Is it open?', options=('Open', 'Closed'))
    >>> split_options("Which?\nA. Left\nB. Right\n\nAnswer with the letter.").text
    'Which?\n\nAnswer with the letter.'
    >>> split_options("Where?\nOptions: A: on the bed., B: in a box.").options
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
            return SplitText("\n\n".join(part for part in (before, after) if part), options)
    return SplitText(text, ())


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
_LETTERS = re.compile(r"\(?[A-Z]\)?(?:\s*[,;/&、]?\s*\(?[A-Z]\)?)+")
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
        case float() if isnan(value):
            return ""  # how tables write an empty cell among numbers
        case bool():
            return "yes" if value else "no"
        case int():
            return str(value)  # exactly, however long: two ids may differ in the last digit
        case float():
            return f"{value:.15g}"
        case str():
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise SourceError(f"a lone surrogate in {value!a:.60}")
            return value.strip()
    raise SourceError(f"{value!r:.60} is not a text or a number")


def read_options(cells: Sequence[object]) -> tuple[str, ...]:
    """Parse the options: one cell with all of them, or one cell each (trailing ones may be empty).

    A single cell is a list, an object with letters or numbers from 1 as names, with lists ``label``
    and ``text`` or with the scores of options (``{"dog": 1, "cat": 0}``), a list of objects
    ``label`` and ``text``, one of these as text, or a text such as ``(a) x (b) y``. Returns () for
    a row without options.

    Raises:
        SourceError: If there is one option, or more than 26.
    """
    options = [format_cell(option) for option in _list_options(cells)]
    while options and not options[-1]:
        options.pop()
    if len(options) == 1:
        raise SourceError(f"options {options} (expected at least 2)")
    if len(options) > MAX_OPTIONS:
        raise SourceError(f"{len(options)} options; at most {MAX_OPTIONS} can be read in responses")
    return tuple(drop_letters(options))


def drop_missing(gold: Gold, missing: Collection[str] = MISSING) -> Gold:
    """Drop the options that stand for none, unless the answer is one of them.

    One between others becomes "" and keeps its letter, so that no other letter moves.

    >>> drop_missing(Gold("choice", ("A",), ("one", "", "two", "nan"))).options
    ('one', '', 'two')

    Raises:
        SourceError: If fewer than 2 options remain.
    """
    options = [
        option if letter in gold.answer or option.casefold() not in missing else ""
        for letter, option in zip(ascii_uppercase, gold.options, strict=False)
    ]
    while options and not options[-1] and ascii_uppercase[len(options) - 1] not in gold.answer:
        options.pop()
    right = [options[ascii_uppercase.index(letter)] for letter in gold.answer]
    if "" in right or len(options) - options.count("") < _MIN_OPTIONS:
        raise SourceError(f"options {[*gold.options]} (expected at least 2, with the right one)")
    return gold._replace(options=tuple(options))


def drop_letters(options: Sequence[str]) -> Sequence[str]:
    """Drop the options' own letters if all have them, "(A) 5", "B. dog", and sort by them.

    >>> drop_letters(["A. cat", "C. cow", "B. dog"]), drop_letters(["Point A", "Point B"])
    (['cat', 'dog', 'cow'], ['Point A', 'Point B'])
    """
    own = _own_letters(options)
    return [own[letter] for letter in sorted(own)] or options


def _own_letters(options: Sequence[str]) -> dict[str, str]:
    """Options by their own letters, as listed; {} unless these are as many, from A on."""
    matches = [_OWN_LETTER.fullmatch(option.translate(_HALF_WIDTH)) for option in options]
    own = {
        match[1] or match[2]: option[match.start(3) :]
        for option, match in zip(options, matches, strict=True)
        if match
    }
    return own if {*own} == {*ascii_uppercase[: len(options)]} else {}


def refuse_index(value: object, cells: Sequence[object]) -> None:
    """Refuse an index as the key of options that are not listed in the order of their letters.

    Raises:
        SourceError: If it is one: it may count the options as listed, or by their letters.
    """
    order = [*_own_letters([format_cell(option) for option in _list_options(cells)])]
    parsed = parse_list(value)
    keys = parsed if isinstance(parsed, list | tuple) else [parsed]
    if order != sorted(order) and any(_INDEX.fullmatch(format_cell(key)) for key in keys):
        raise SourceError(
            f"answer {value!r:.60} is ambiguous: the options are listed as"
            f" {', '.join(order)}. Write the letter"
        )


def _list_options(cells: Sequence[object]) -> Sequence[object]:
    listed = parse_list(cells[0]) if len(cells) == 1 else cells
    if isinstance(listed, str) and (split := split_options(listed)).options and not split.text:
        return split.options
    if options := named_options(cells):
        if is_scores(options):
            return list(options)
        names = sorted(options, key=lambda name: (len(name), name))
        letters = "".join(map(str.upper, names))
        if letters != ascii_uppercase[: len(names)] and not is_numbered(options):
            raise SourceError(f"options {listed!r:.60} (expected the names A, B, C, ...)")
        return [options[name] for name in names]
    if isinstance(listed, list | tuple):
        return listed
    if format_cell(listed):
        raise SourceError(f"options {listed!r:.60} (expected a list)")
    return ()


def named_options(cells: Sequence[object]) -> Mapping[str, object]:
    """Options by name, of the one cell that has them so; {} otherwise.

    >>> named_options([[{"label": "A", "text": "cat"}, {"label": "B", "text": "dog"}]])
    {'A': 'cat', 'B': 'dog'}
    """
    listed = parse_list(cells[0]) if len(cells) == 1 else None
    match listed:
        case {"label": list(labels), "text": list(texts), **others} if not others:
            return dict(zip(map(str, labels), texts, strict=False))
        case [{"label": _, "text": _}, *_] as entries:
            objects = [entry for entry in entries if isinstance(entry, dict)]
            return {str(entry.get("label")): entry.get("text") for entry in objects}
        case dict():
            return {str(name): option for name, option in listed.items() if option is not None}
    return {}


def is_numbered(options: Mapping[str, object]) -> bool:
    """Whether the names are 1, 2, 3, ..."""
    return bool(options) and {*options} == {str(n + 1) for n in range(len(options))}


def is_scores(options: Mapping[str, object]) -> bool:
    """Whether the names are the options, and the values 1 for the right one and 0 for others."""
    has_letters = {name.upper() for name in options} == {*ascii_uppercase[: len(options)]}
    scores = [*options.values()]
    is_score = [isinstance(score, int | float) and 0 <= score <= 1 for score in scores]
    return bool(options) and not has_letters and all(is_score)


def read_answer(value: object, options: Sequence[str], answers: AnswerFormat = "") -> Gold:
    """Parse the answer key: one option, a set of options, or alternative texts.

    A list of as many 0 and 1 as there are options marks the right ones, as scores of options do.

    >>> read_answer([0, 1, 0], ["cat", "dog", "cow"]).answer
    ('B',)

    Raises:
        SourceError: If it is missing, matches no option, or is ambiguous.
        SettingsError: If an index equals the number of options: then all may count from 1.
    """
    is_option = isinstance(value, str) and value.strip() in options  # "(2, 3)" may be one
    parsed = value if is_option else parse_list(value)
    several = isinstance(parsed, list | tuple)
    listed = parsed if isinstance(parsed, list | tuple) else [parsed]
    is_marked = several and answers in ("", "marks")
    marks = [*parsed.values()] if isinstance(parsed, dict) else listed if is_marked else []
    if options and len(marks) == len(options) and all(mark in (0, 1) for mark in marks):
        is_pair = marks in ([0, 1], [1, 0]) and not any(isinstance(mark, bool) for mark in marks)
        if is_pair and not answers and not isinstance(parsed, dict):  # both options, or one
            raise SourceError(
                f"answer {marks} is ambiguous in {list(options)}: set answers = "
                '"indices" or "marks"'
            )
        right = tuple(ascii_uppercase[n] for n, mark in enumerate(marks) if mark)
        if not right or (len(right) > 1 and not several):
            raise SourceError(f"{len(right)} options have the score 1 (expected one)")
        return Gold("choices" if len(right) > 1 else "choice", right, tuple(options))
    parts = [letter for letter in listed if format_cell(letter)]
    if not parts:
        raise SourceError("no answer")
    if not options:
        texts = filter(None, map(format_cell, read_texts(value)))
        return Gold("text", tuple(dict.fromkeys(texts)))
    letter_set = _parse_letter_set(format_cell(parts[0]), options, answers)
    if letter_set and len(parts) == 1:
        return Gold("choices", letter_set, tuple(options))
    letters = tuple(sorted({_letter(part, options, answers) for part in parts}))
    return Gold("choices" if several else "choice", letters, tuple(options))


def read_texts(value: object) -> Sequence[object]:
    """Parse one or several alternative texts.

    >>> read_texts("['red', 'blue']"), read_texts("(2, 3)")  # a point is one text
    (['red', 'blue'], ['(2, 3)'])
    """
    texts = parse_list(value)
    if isinstance(value, str) and isinstance(texts, tuple):
        return texts if any(isinstance(text, str) for text in texts) else [value]
    return texts if isinstance(texts, list | tuple) else [value]


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
    matches = [n for n, option in enumerate(written) if option == text]
    matches = matches or [
        n for n, option in enumerate(written) if option.casefold() == text.casefold()
    ]
    if matches and len({options[match] for match in matches}) == 1 and "<image" not in text:
        positions["texts"] = matches[0]  # equal options are equally right
    return positions


def _parse_letter_set(
    text: str, options: Sequence[str], answers: AnswerFormat
) -> tuple[str, ...] | None:
    """Parse letters in one text, such as "AC" or "A, C"; none if that is an option's text."""
    written = text.translate(_HALF_WIDTH)
    letters = set(re.findall("[A-Z]", written))
    is_lettered = answers in ("", "letters") and _LETTERS.fullmatch(written) and text not in options
    offered = set(ascii_uppercase[: len(options)])
    return tuple(sorted(letters)) if is_lettered and letters <= offered else None
