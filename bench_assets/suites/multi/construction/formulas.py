"""Formulas of raw markup: hiding them from converters, and finding broken ones and lost text."""

import html
import re
from collections import Counter
from collections.abc import Collection

FORMULA = re.compile(
    r"(?<!\\)\$\$(?:\\.|[^$\\])+\$\$|(?<!\\)\$(?!\$)(?:\\.|[^$\n\\])+\$|\\\(.+?\\\)|\\\[.+?\\\]",
    re.DOTALL,
)
"""A LaTeX formula; formulas may follow each other without a blank: ``$a$$b$``."""

_SIGN = re.compile(r"(?<!\\)\$")
_MONEY = re.compile(  # an amount that is not continued as a formula
    r"(?<![\\$])\$(?=\d[\d,]*(?:\.\d+)?(?:\s*[\u3000-\u303f\uff01-\uff65\u4e00-\u9fff]|\s+[A-Za-z]{2,}"
    r"|[,;:.!?]?(?:\s|$)))"
)
_EMPTY = re.compile(r"\\frac\{\s*\}|\\sqrt\{\s*\}|\{\s*\}\{\s*\}")
_TWO_INDICES = re.compile(r"(\$([_^])\{[^${}]*\})\$\$(?!\2)([_^]\{[^${}]*\}\$)")
_PLACE = re.compile("\ue000(\\d+)\ue001")
_TAG_NAMES = (
    "a|abbr|acronym|address|article|aside|b|bdi|bdo|big|blockquote|body|br|caption|center|cite|code|col|colgroup|dd"
    "|del|div|dl|dt|em|figure|font|footer|form|h[1-6]|head|header|hr|html|i|img|input|ins|kbd|label"
    "|li|link|main|meta|nav|o:p|ol|p|pre|q|rb|rp|rt|ruby|s|samp|script|section|small|span|strike|strong|style|sub"
    "|sup|table|tbody|td|tfoot|th|thead|title|tr|tt|u|ul|var|wbr"
)
_TAG = re.compile(rf"</?(?:{_TAG_NAMES})(?=[\s/>])(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>", re.IGNORECASE)
_LETTERS = "abipqsu"
_SHORT = re.compile(rf"<[{_LETTERS}]>", re.IGNORECASE)  # may be a comparison as well: x<b>y
_INVISIBLE = re.compile(r"<!--.*?-->|<(script|style|title)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)


class Formulas:
    """The formulas of one text, hidden while the rest is converted."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def keep(self, text: str) -> str:
        """Replace each formula without tags by a placeholder, and escape amounts of money."""
        text = escape_money(text)
        closed_letters = _closed_letters(text)

        def placeholder(match: re.Match[str]) -> str:
            if _tag_spans(match[0], closed_letters):
                return match[0]
            self.kept.append(html.unescape(match[0]))
            return f"\ue000{len(self.kept) - 1}\ue001"

        return FORMULA.sub(placeholder, text)

    def hide(self, text: str) -> str:
        """``keep`` for HTML, with every ``<`` outside a tag as an entity."""
        text = self.keep(text)
        spans = _tag_spans(text, _closed_letters(text))
        spans |= {match.span() for match in _INVISIBLE.finditer(text)}
        tag_positions = {position for start, end in spans for position in range(start, end)}
        return "".join(
            "&lt;" if character == "<" and position not in tag_positions else character
            for position, character in enumerate(text)
        )

    def escape_pipes(self, text: str) -> str:
        r"""Escape ``|`` for a table cell: ``\|`` in the text, ``\vert`` in its formulas."""
        for match in _PLACE.finditer(text):
            index = int(match[1])
            formula = self.kept[index].replace(r"\|", r"\Vert ")
            self.kept[index] = formula.replace("|", r"\vert ")
        return text.replace("|", r"\|")

    def show(self, text: str) -> str:
        """Restore the formulas."""
        return _PLACE.sub(lambda match: self.kept[int(match[1])], text)


def visible_text(text: str) -> str:
    """Return the visible text of HTML, without the parser, whose losses it helps to find."""
    formulas = Formulas()
    visible = _TAG.sub("", _INVISIBLE.sub("", formulas.hide(text)))
    return formulas.show(html.unescape(visible))


def lost_characters(before: str, after: str) -> str:
    """Return the characters of ``before`` that ``after`` lacks, as often as they are missing.

    Whitespace is ignored, and so is the LaTeX that table cells need for ``|``.

    >>> lost_characters("x<y 且 y>z", "xy>z")
    '<y且'
    """
    after = after.replace(r"\Vert", r"\|").replace(r"\vert", "|")
    missing = Counter("".join(before.split())) - Counter("".join(after.split()))
    return "".join(missing.elements())


def escape_money(text: str) -> str:
    r"""Escape the dollar signs of amounts of money, which would otherwise delimit formulas.

    Only if the text has an odd number of dollar signs, and escaping makes it even.

    >>> escape_money("单价$5，设$x$支"), escape_money("$3，4$")
    ('单价\\$5，设$x$支', '$3，4$')
    """
    if len(_SIGN.findall(text)) % 2 == 0:
        return text
    escaped = _MONEY.sub(r"\\$", text)
    return text if len(_SIGN.findall(escaped)) % 2 else escaped


def is_broken(text: str) -> bool:
    r"""Whether a text has an empty or unclosed formula, or one with unbalanced braces.

    >>> is_broken("SO$_4$$^{2-}$ $$x=1$$"), is_broken("$x"), is_broken(r"$\\left\\{x\\right.$")
    (False, True, False)
    """
    plain = escape_money(text).replace(r"\$", "")
    if "$" in FORMULA.sub("", plain):
        return True
    for match in FORMULA.finditer(plain):
        body = match[0].strip("$")
        groups = body.replace(r"\{", "").replace(r"\}", "")
        if not body.strip() or _EMPTY.search(body) or groups.count("{") != groups.count("}"):
            return True
    return False


def join_indices(text: str) -> str:
    """Join a subscript and a superscript of the same letter into one formula.

    >>> join_indices("SO$_{4}$$^{2-}$")
    'SO$_{4}^{2-}$'
    """
    return _TWO_INDICES.sub(r"\1\3", text)


def _tag_spans(text: str, closed_letters: Collection[str]) -> set[tuple[int, int]]:
    """Return the spans of tags in a text; a one-letter tag must be among the closed ones."""
    return {
        match.span()
        for match in _TAG.finditer(text)
        if not _SHORT.fullmatch(match[0]) or match[0].strip("<>").lower() in closed_letters
    }


def _closed_letters(text: str) -> set[str]:
    """Return the one-letter tags that a text closes."""
    lowered = text.lower()
    return {letter for letter in _LETTERS if f"</{letter}>" in lowered}
