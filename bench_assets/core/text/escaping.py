"""Escapes untrusted text for terminals, Markdown, CSV and JSON."""

import html
import re

_CONTROLS = "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"  # C0 but tab and newline, DEL, C1
_BIDI_CONTROLS = "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # of the writing direction
_LINES = "\\u2028\\u2029"
_LONE_SURROGATES = "\\ud800-\\udfff"  # which cannot be encoded
_UNSAFE = re.compile(f"[{_CONTROLS}{_BIDI_CONTROLS}{_LINES}{_LONE_SURROGATES}]")


def escape_controls(text: str) -> str:
    r"""Escape control characters for a terminal; letters, signs and emoji of all scripts stay.

    >>> print(escape_controls("\x1b[31mred\x07 a\u202eb 中文 👩\u200d🔬"))
    \x1b[31mred\x07 a\u202eb 中文 👩‍🔬
    """
    return _UNSAFE.sub(_escape_code, text)


def escape_to_one_line(text: str) -> str:
    """Escape control characters and join lines, for cells and titles."""
    return escape_controls(re.sub(r"\r\n|[\t\n\r]", " ", text))


FORMULA = "[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
"""Regex class: first characters of cells that a spreadsheet may evaluate, also full-width."""


def escape_formula(text: str) -> str:
    """Escape a CSV cell so that a spreadsheet does not evaluate it as a formula.

    >>> escape_formula("=1+1"), escape_formula("1+1")
    ("'=1+1", '1+1')
    """
    return f"'{text}" if re.match(FORMULA, text) else text


def escape_json_controls(json_text: str) -> str:
    r"""Escape control characters in JSON text without changing its value.

    >>> escape_json_controls('"\x9b \u202e 中"')
    '"\\u009b \\u202e 中"'
    """
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", json_text)


def _escape_code(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


_MARKS = re.compile(r"[&<>`*\[\]|~\\]|(?<![^\W_])_|_(?![^\W_])")
_BLOCK_START = re.compile(r"^(\d{0,9})([-+=.#)])(?=\s|$|[-=#]+)")
_SCHEME = re.compile(r"(script|data|https?|ftp|file|mailto|xmpp):", re.IGNORECASE)
_LINK_START = re.compile(r"(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=@)(?=\w)", re.IGNORECASE)
_JOINER = "\u2060"  # invisible, and no word boundary


def escape_markdown(text: str) -> str:
    r"""Escape a text for Markdown: no HTML, image, link, code or table cell.

    Addresses do not become links either.

    >>> escape_markdown("<b>a_b</b>|![x](javascript:y)")
    '&#60;b&#62;a_b&#60;/b&#62;&#124;!&#91;x&#93;(javascript&#58;y)'
    >>> escape_markdown("1. a"), escape_markdown("- b"), escape_markdown("3.5 m")
    ('1&#46; a', '&#45; b', '3.5 m')
    """
    line = _LINK_START.sub(_JOINER, escape_to_one_line(text).strip())
    escaped = _MARKS.sub(lambda match: f"&#{ord(match[0])};", line)
    escaped = _SCHEME.sub(r"\1&#58;", escaped)
    return _BLOCK_START.sub(lambda match: f"{match[1]}&#{ord(match[2])};", escaped)


def unescape_markdown(markdown: str) -> str:
    """Undo ``escape_markdown``, except that lines stay joined and stripped.

    >>> unescape_markdown(escape_markdown("<a@b>: http://c"))
    '<a@b>: http://c'
    """
    return html.unescape(markdown).replace(_JOINER, "")
