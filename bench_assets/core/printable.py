"""Texts of strangers, made fit for a terminal: it obeys control characters, wherever they stand."""

import re

_CONTROLS = "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"  # C0 but tab and newline, DEL, C1
_TURNS = "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # which way the rest is written
_LINES = "\\u2028\\u2029"
_ALONE = "\\ud800-\\udfff"  # halves of characters, which no terminal can be sent
_UNFIT = re.compile(f"[{_CONTROLS}{_TURNS}{_LINES}{_ALONE}]")


def printable(text: str) -> str:
    r"""Show control characters by their numbers; letters, signs and emoji of all scripts stay.

    >>> print(printable("\x1b[31mred\x07 a\u202eb 中文 👩\u200d🔬"))
    \x1b[31mred\x07 a\u202eb 中文 👩‍🔬
    """
    return _UNFIT.sub(_number, text)


def one_line(text: str) -> str:
    """The same on one line, for cells and titles."""
    return printable(re.sub(r"\r\n|[\t\n\r]", " ", text))


def printable_json(written: str) -> str:
    r"""The same for JSON that was written: it reads as it did, unfit characters are escapes.

    >>> printable_json('"\x9b \u202e 中"')
    '"\\u009b \\u202e 中"'
    """
    return _UNFIT.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def _number(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
