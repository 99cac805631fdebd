"""Escapes untrusted text for terminals, Markdown, CSV and JSON."""

import html
import re

_CONTROLS = "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"  # C0 but tab and newline, DEL, C1
_TURNS = "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # change the writing direction
_LINES = "\\u2028\\u2029"
_ALONE = "\\ud800-\\udfff"  # lone surrogates, which cannot be encoded
_UNFIT = re.compile(f"[{_CONTROLS}{_TURNS}{_LINES}{_ALONE}]")


def printable(text: str) -> str:
    r"""Escape control characters for a terminal; letters, signs and emoji of all scripts stay.

    >>> print(printable("\x1b[31mred\x07 a\u202eb 中文 👩\u200d🔬"))
    \x1b[31mred\x07 a\u202eb 中文 👩‍🔬
    """
    return _UNFIT.sub(_number, text)


def one_line(text: str) -> str:
    """Escape as ``printable`` does, on one line, for cells and titles."""
    return printable(re.sub(r"\r\n|[\t\n\r]", " ", text))


FORMULA = "[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
"""Regex class: first characters of cells that a spreadsheet may evaluate, also full-width."""


def formula_safe(text: str) -> str:
    """Escape a CSV cell so that a spreadsheet does not evaluate it as a formula.

    >>> formula_safe("=1+1"), formula_safe("1+1")
    ("'=1+1", '1+1')
    """
    return f"'{text}" if re.match(FORMULA, text) else text


def printable_json(written: str) -> str:
    r"""Escape control characters in JSON text without changing its value.

    >>> printable_json('"\x9b \u202e 中"')
    '"\\u009b \\u202e 中"'
    """
    return _UNFIT.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def _number(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


_MARKS = re.compile(r"[&<>`*\[\]|~\\]|(?<![^\W_])_|_(?![^\W_])")
_OPENS_A_BLOCK = re.compile(r"^(\d{0,9})([-+=.#)])(?=\s|$|[-=#]+)")
_SCHEME = re.compile(r"(script|data|https?|ftp|file|mailto|xmpp):", re.IGNORECASE)
_OPENS_A_LINK = re.compile(r"(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=@)(?=\w)", re.IGNORECASE)
_JOINER = "\u2060"  # invisible, and no word boundary


def as_text(text: str) -> str:
    r"""Escape a text for Markdown: no HTML, image, link, code or table cell.

    Addresses do not become links either.

    >>> as_text("<b>a_b</b>|![x](javascript:y)")
    '&#60;b&#62;a_b&#60;/b&#62;&#124;!&#91;x&#93;(javascript&#58;y)'
    >>> as_text("1. a"), as_text("- b"), as_text("3.5 m")
    ('1&#46; a', '&#45; b', '3.5 m')
    """
    line = _OPENS_A_LINK.sub(_JOINER, one_line(text).strip())
    marked = _MARKS.sub(lambda found: f"&#{ord(found[0])};", line)
    marked = _SCHEME.sub(r"\1&#58;", marked)
    return _OPENS_A_BLOCK.sub(lambda found: f"{found[1]}&#{ord(found[2])};", marked)


def as_written(shown: str) -> str:
    """Undo ``as_text``.

    >>> as_written(as_text("<a@b>: http://c"))
    '<a@b>: http://c'
    """
    return html.unescape(shown).replace(_JOINER, "")
