"""Texts of strangers, as they stand in the Markdown that the UI shows."""

import html
import re

from bench_assets.core.printable import one_line

_MARKS = re.compile(r"[&<>`*\[\]|~\\]|(?<![^\W_])_|_(?![^\W_])")
_OPENS_A_BLOCK = re.compile(r"^(\d{0,9})([-+=.#])(?=\s|$|[-=#]+)")
_SCHEME = re.compile(r"(script|data|https?|ftp|file|mailto|xmpp):", re.IGNORECASE)
_OPENS_A_LINK = re.compile(r"(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=@)(?=\w)", re.IGNORECASE)
_JOINER = "\u2060"  # takes no room, and parts no word


def as_text(text: str) -> str:
    r"""Write a text so that it is shown as it is: no HTML, picture, link, code or other cell.

    Addresses become no links either, which some readers make of them without any marks.

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
    """Read such a text again.

    >>> as_written(as_text("<a@b>: http://c"))
    '<a@b>: http://c'
    """
    return html.unescape(shown).replace(_JOINER, "")
