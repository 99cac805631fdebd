"""Keeps formulas and signs of comparison out of the hands of an HTML parser."""

import html
import re
from collections import Counter
from collections.abc import Collection

_FORMULA = re.compile(
    r"(?<!\\)\$\$.+?(?<!\\)\$\$|(?<![\\$])\$(?!\$)[^$\n]+?(?<!\\)\$|\\\(.+?\\\)|\\\[.+?\\\]",
    re.DOTALL,
)
_PLACE = re.compile("\ue000(\\d+)\ue001")
_NAMES = (
    "a|abbr|address|article|aside|b|big|blockquote|body|br|caption|center|cite|code|col|colgroup|dd"
    "|del|div|dl|dt|em|figure|font|footer|form|h[1-6]|head|header|hr|html|i|img|input|ins|kbd|label"
    "|li|link|main|meta|nav|o:p|ol|p|pre|q|s|samp|script|section|small|span|strike|strong|style|sub"
    "|sup|table|tbody|td|tfoot|th|thead|title|tr|tt|u|ul|var|wbr"
)
_TAG = re.compile(rf"</?(?:{_NAMES})(?=[\s/>])(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>", re.IGNORECASE)
_LETTERS = "abipqsu"
_SHORT = re.compile(rf"<[{_LETTERS}]>", re.IGNORECASE)  # may be a comparison as well: x<b>y
_UNSEEN = re.compile(r"<!--.*?-->|<(script|style|title)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)


class Formulas:
    """The formulas of one text, while others work on the rest of it."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def keep(self, text: str) -> str:
        """Put a place holder for each formula. Money is none: a formula holds no tag."""
        closed = _closed(text)

        def hidden(found: re.Match[str]) -> str:
            if _tags(found[0], closed):
                return found[0]
            self.kept.append(html.unescape(found[0]))
            return f"\ue000{len(self.kept) - 1}\ue001"

        return _FORMULA.sub(hidden, text)

    def hide(self, text: str) -> str:
        """Do so in HTML, where then every ``<`` that begins no tag is written as an entity."""
        hidden = self.keep(text)
        tags = _tags(hidden, _closed(hidden)) | {found.span() for found in _UNSEEN.finditer(hidden)}
        inside = {place for start, end in tags for place in range(start, end)}
        return "".join(
            "&lt;" if sign == "<" and place not in inside else sign
            for place, sign in enumerate(hidden)
        )

    def escape_pipes(self, text: str) -> str:
        r"""Write ``|`` so that it ends no cell: ``\|`` in a text, ``\vert`` in its formulas."""
        for found in _PLACE.finditer(text):
            number = int(found[1])
            norms = self.kept[number].replace(r"\|", r"\Vert ")
            self.kept[number] = norms.replace("|", r"\vert ")
        return text.replace("|", r"\|")

    def show(self, text: str) -> str:
        """Put the formulas back."""
        return _PLACE.sub(lambda found: self.kept[int(found[1])], text)


def visible(text: str) -> str:
    """What a reader of HTML sees of a text, found without a parser."""
    formulas = Formulas()
    seen = _TAG.sub("", _UNSEEN.sub("", formulas.hide(text)))
    return formulas.show(html.unescape(seen))


def lost(before: str, after: str) -> str:
    """Name the characters of one text that the other lacks, each as often; blanks are none.

    >>> lost("x<y 且 y>z", "xy>z")
    '<y且'
    """
    for written, sign in ((r"\Vert", r"\|"), (r"\vert", "|")):
        after = after.replace(written, sign)
    missing = Counter("".join(before.split())) - Counter("".join(after.split()))
    return "".join(missing.elements())


def _tags(part: str, closed: Collection[str]) -> set[tuple[int, int]]:
    """Where the tags of a part of a text are; a short one is one only if it is closed."""
    return {
        found.span()
        for found in _TAG.finditer(part)
        if not _SHORT.fullmatch(found[0]) or found[0][1].lower() in closed
    }


def _closed(text: str) -> set[str]:
    """Which of the short tags a text closes."""
    lowered = text.lower()
    return {letter for letter in _LETTERS if f"</{letter}>" in lowered}
