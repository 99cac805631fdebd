"""Blank parser: a response's entries for the blanks, and their comparison with the key.

Lines are compared regardless of notation: Unicode or LaTeX signs, indices, bold, thousands
separators. Values are not computed: 0.5 is not 1/2.
"""

import re
from collections.abc import Sequence
from unicodedata import decomposition, normalize

from bench_assets.core.parsing.wrapped_answers import boxed_texts
from bench_assets.suites.multi.construction.item_checks import MASK

_ANSWER_PREFIX = re.compile(
    r"\A.*(?:答案(?:依次|分别)?(?:[是为]\s*:?|\s*:|\**\s*\n)|【答案】|\[答案\]"
    r"|(?:依次|分别)(?:应?填入?|写|是|为)+\s*:?|\A\s*(?:(?:答|解)\s*:|应填[入写]?\s*:?))",
    re.DOTALL,
)
_REASON = re.compile(  # a run of blanks is looked at once, however many lines it has
    r"(?:[;。]|(?<!\s)(?=[^\S\n]*\n))\s*+(?:理由|因为|解析|原因|说明)[是:].*\Z", re.DOTALL
)
_CLAUSE = re.compile(r"[,;。?!\n]")
_MIN_CONTEXT = 3  # least characters of a stem without a copula that count as repeated
_MAX_CONTEXT = 6  # most characters of a stem beside a blank
_START, _END = r"(?:^|(?<=[\n,;:。.]))", r"(?=[,;。\n]|\Z)"
_BLANK_ENTRY = r"(?:约?[是为]|[:=])?([^\n,;。]{1,40}?)"
_EMPTY = re.compile(r"__|\( *\)|\[MASK")  # the stem with its blanks still empty
_CIRCLED = re.compile("[①-⑳]")
_DELIMITERS = re.compile(r"\\[()\[\]]|\$")  # around formulas
_COPULAS = "是为有叫即=:"
_COPULA = re.compile(rf"[{_COPULAS}]\Z")
# "the first blank is", as a mark of a list
_BLANK = re.compile(
    r"(?:第\s*([一二三四五六七八九十]|[0-9]{1,2})\s*个?(?:空格?|处|横线)"
    r"|(?<![\w])填?空格?\s*(?:([一二三四五六七八九十]|[0-9]{1,2})|\(([0-9]{1,2})\)))"
    r"(?:处|上|中|里)?\s*(?:[应该可]*(?:填[入写]?|写)(?:的?[是为])?|[应该]*[是为])?\s*:?\s*"
)
_BETWEEN_BLANKS = re.compile(r"[;,、。]\s*(?=\([0-9]{1,2}\))")
_NUMBERED = re.compile(r"(?:\(?([0-9]{1,2})(?:\)|[.、:](?![0-9]))|([①-⑳]))(.*)")
_HAS_DIGIT = re.compile(r"\d")
_MARK = re.compile(r"(?=\([0-9]{1,2}\)|[①-⑳])|(?:(?<=\s)|^)(?=[1-9]\))")
_EMPHASIS = re.compile(r"\*\*|`|^[^\S\n]*+[-*•]\s++", re.MULTILINE)
_THOUSANDS = re.compile(r"(?<![\d.,(\[{])\d{1,3}(?:,\d{3})+(?!\d|,\S)")

_QUOTATION = re.compile(r"[“\"「『]([^“”\"「」『』]+)[”\"」』]")
_QUOTED = re.compile(r"\A[\"「『]([^\"「」『』]+)[\"」』]\Z")  # as a whole

_SUBSCRIPTS, _SUPERSCRIPTS = re.compile("[₀-ₜ]+"), re.compile("[⁰-ⁿ²-³¹-¹]+")
# Full-width signs, the ideographic blank; units, Roman numerals and fractions of one character.
_COMPATIBLE = re.compile("[！-～\u3000]|[\u00b5℃℉\u2126]|[㍱-㏟]|[Ⅰ-ⅿ]|(?<!\\d)[¼-¾⅓-⅞]")
_EQUIVALENTS = str.maketrans("\u2044\u2236≧≦“”", '/:≥≤""')
_MINUS = re.compile("[\u2212\u2013\u2012\ufe63]")
_LATEX = (
    (re.compile(r"\\(?:left|right|[,;!: ])"), ""),
    (re.compile(r"\\(?:text|mathrm)\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\[dt]frac"), r"\\frac"),
    (re.compile(r"\\sqrt\{(\w+)\}"), r"√\1"),
    (re.compile(r"(?<!\d)\\frac\{([\w.√]+)\}\{([\w.√]+)\}"), r"\1/\2"),
    (re.compile(r"\\times"), "×"),
    (re.compile(r"\\cdot"), "·"),
    (re.compile(r"\\pi(?![a-z])"), "π"),
    (re.compile(r"\\leq?(?![a-z])"), "≤"),
    (re.compile(r"\\geq?(?![a-z])"), "≥"),
    (re.compile(r"\^\{?\\circ\}?"), "°"),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"[_]\{([^{}]*)\}|_"), r"\1"),
    (re.compile(r"\^\{([\w+-]*)\}"), r"^\1"),
)


def read_blanks(response: str, n: int, stem: str = "") -> tuple[str, ...]:
    """Read one line per blank, or more, from boxes, list marks, lines or one line for all.

    Args:
        response: In half-width letters.
        n: Number of blanks.
        stem: The question, in half-width letters; a response may repeat its words around a blank.
    """
    response = _DELIMITERS.sub("", response)
    segments = stem.split(MASK)
    if len(segments) != n + 1:
        return _read_lines(response, n)
    if len(boxed_texts(response)) != n and (restated := _read_from_stem(response, segments)):
        return restated
    found = _read_lines(response, n)
    return tuple(map(_strip_stem, found, segments, segments[1:])) if len(found) == n else found


def _read_from_stem(response: str, segments: Sequence[str]) -> tuple[str, ...]:
    """Read the blanks from a response's last repetition of the stem; () without one.

    Of the text before the first blank, its last characters are enough.
    """
    text = re.sub(r"[^\S\n]", "", _EMPHASIS.sub("", response))
    first, *middle, last = [re.sub(r"\s", "", part) for part in segments]
    lead = (_CLAUSE.split(first)[-1] or first)[-_MAX_CONTEXT:]
    tail = _CLAUSE.split(last)[0][:_MAX_CONTEXT]
    for start in (*(lead[at:] for at in range(len(lead) - 1)), ""):
        if len(start + "".join(middle) + tail) < _MIN_CONTEXT:
            return ()
        parts = (re.escape(start) or _START, *map(re.escape, middle), re.escape(tail) or _END)
        found = [one.groups() for one in re.finditer(_BLANK_ENTRY.join(parts), text)]
        if filled := [one for one in found if not _EMPTY.search(" ".join(one))]:
            return filled[-1]
    return ()


def _strip_stem(line: str, before: str, after: str) -> str:
    """Strip the stem's words before and after the blank from a line."""
    lead, bare = _CLAUSE.split(before)[-1], re.sub(r"\s", "", line)
    if lead.endswith("=") and bare.startswith(re.sub(r"\s", "", lead)):
        return bare.rpartition("=")[2]  # "lg2+lg5=lg10=1"
    subject = _COPULA.sub("", lead)
    starts = [lead] if len(lead) >= _MIN_CONTEXT else []
    if subject != lead:
        starts = [subject[at:] + verb for at in range(len(subject)) for verb in _COPULAS]
    starts += [sign for sign in subject[-1:] if _CIRCLED.match(sign)]
    trimmed = line.rstrip("。.")
    tail = _CLAUSE.split(after)[0]
    ends = next(
        filter(trimmed.endswith, (tail, *(after[:n] for n in range(_MAX_CONTEXT, 1, -1)))), ""
    )
    line = trimmed.removesuffix(ends) if ends and trimmed != ends else line
    starts += [lead] * bool(ends)
    return line.removeprefix(next(filter(line.startswith, filter(None, starts)), ""))


def _read_lines(response: str, n: int) -> tuple[str, ...]:
    boxes = boxed_texts(response)
    if len(boxes) == n:
        return tuple(boxes)
    response = boxes[0] if len(boxes) == 1 else response
    response = _REASON.sub("", _ANSWER_PREFIX.sub("", response))
    response = _EMPHASIS.sub("", response.replace("$", ""))
    start = _BLANK.search(response)
    if start and len(_BLANK.findall(response)) == n:
        marked = _BLANK.sub(_list_mark, response)
        response = _BETWEEN_BLANKS.sub("\n", marked[start.start() :])
    *_, last = ["", *re.split(r"\n[^\S\n]*\n", response.strip())]
    lines = [line.strip() for line in response.split("\n") if line.strip()]
    if n > 1 and len(lines) > n == len(last.split("\n")):
        lines = [line.strip() for line in last.split("\n")]
    if len(lines) == 1 < n:
        lines = _split_line(lines[0], n)
    numbered = [_NUMBERED.fullmatch(line) for line in lines]
    if n > 1 and [found and _mark_number(found) for found in numbered] == [*range(1, n + 1)]:
        lines = [found[3].strip(" ;,、.:。") for found in numbered if found]
    return tuple(lines)


def matches_gold(line: str, gold: str) -> bool:
    """Whether a line matches the key, or one of its alternatives."""
    return normalize_text(line) in (normalize_text(gold), *map(normalize_text, gold.split("或")))


def normalize_text(text: str) -> str:
    r"""Normalize a line: no whitespace, dollars or full stop; indices and signs in ASCII.

    The gold is normalized too: in Chinese "１：２" is as usual as "1:2".

    >>> (
    ...     normalize_text("$x^{2}$"),
    ...     normalize_text("x²"),
    ...     normalize_text("H₂O"),
    ...     normalize_text(r"\dfrac{1}{2}"),
    ...     normalize_text("−1,200"),
    ... )
    ('x^2', 'x^2', 'H2O', '1/2', '-1200')
    """
    text = _COMPATIBLE.sub(_decompose, text).translate(_EQUIVALENTS)
    text = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text.replace("$", ""))
    text = _SUPERSCRIPTS.sub(lambda index: "^" + normalize("NFKC", index[0]), text)
    text = _SUBSCRIPTS.sub(lambda index: normalize("NFKC", index[0]), text)
    text = _MINUS.sub("-", text)
    for written, instead in _LATEX:
        text = written.sub(instead, text)
    text = re.sub(r"\s", "", _EMPHASIS.sub("", text)).strip("。.;,")
    return _QUOTED.sub(r"\1", text)


def _list_mark(found: re.Match[str]) -> str:
    number = found[1] or found[2] or found[3]
    return f"({number if number.isdecimal() else '一二三四五六七八九十'.index(number) + 1})"


def _split_line(line: str, n: int) -> list[str]:
    """Split a line that holds all answers; ``[line]`` unless that gives exactly ``n``."""
    marked = [part.strip() for part in _MARK.split(line) if part.strip()]
    if len(marked) == n and all(map(_NUMBERED.fullmatch, marked)):
        return marked
    for text in (line, _THOUSANDS.sub(lambda number: number[0].replace(",", ""), line)):
        for mark in (";", "、", ","):
            if len(parts := text.split(mark)) == n:
                return [part.strip() for part in parts]
    words = line.split()  # "光合作用 呼吸作用" or "54 2.7", no English words
    by_space = [] if line.isascii() and not all(map(_HAS_DIGIT.search, words)) else words
    by_conjunction = re.split("[和与]", line)
    for parts in (re.split(r"\s{2,}", line), _QUOTATION.findall(line), by_space, by_conjunction):
        if len(parts) == n:
            return parts
    return [line]


def _decompose(found: re.Match[str]) -> str:
    """Decompose a character by one step: "㎡" into a letter and a raised digit."""
    codes = decomposition(found[0]).split()
    return "".join(chr(int(code, 16)) for code in codes if not code.startswith("<"))


def _mark_number(found: re.Match[str]) -> int:
    """Return the number of a list mark; 0 if nothing follows, as the mark is then the answer."""
    if not found[3].strip():
        return 0
    return int(found[1]) if found[1] else "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳".index(found[2]) + 1
