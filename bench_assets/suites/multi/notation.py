"""Comparison of blanks with their keys, regardless of notation.

Unicode and LaTeX, indices, bold and thousands separators compare equal. Values are not computed:
0.5 is not 1/2.
"""

import re
from unicodedata import decomposition, normalize

_EMPHASIS = re.compile(r"\*\*|`|^[^\S\n]*+[-*•]\s++", re.MULTILINE)
_THOUSANDS = re.compile(r"(?<![\d.,(\[{])\d{1,3}(?:,\d{3})+(?!\d|,\S)")

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


def matches_gold(line: str, gold: str) -> bool:
    """Whether a line matches the key, or one of its alternatives."""
    return normalize_text(line) in (normalize_text(gold), *map(normalize_text, gold.split("或")))


def normalize_text(text: str) -> str:
    r"""Write a line in one notation, without whitespace, dollars, emphasis or enclosing quotes.

    Full stops, commas and semicolons at its ends are removed.
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
    text = _COMPATIBLE.sub(_decompose, text).translate(_EQUIVALENTS).replace("$", "")
    text = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text)
    text = _SUPERSCRIPTS.sub(lambda index: "^" + normalize("NFKC", index[0]), text)
    text = _SUBSCRIPTS.sub(lambda index: normalize("NFKC", index[0]), text)
    text = _MINUS.sub("-", text)
    for pattern, replacement in _LATEX:
        text = pattern.sub(replacement, text)
    text = re.sub(r"\s", "", _EMPHASIS.sub("", text)).strip("。.;,")
    return _QUOTED.sub(r"\1", text)


def _decompose(match: re.Match[str]) -> str:
    """Decompose a character by one step: "㎡" into a letter and a raised digit."""
    codes = decomposition(match[0]).split()
    return "".join(chr(int(code, 16)) for code in codes if not code.startswith("<"))
