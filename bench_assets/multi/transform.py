"""The transformations of Figure 6 that a rule can make; each has an ``undo`` that proves it.

Of a transformation and its undoing the first is applied only if the second leads back: nothing
that was right before may be lost. The two that need an eye for language are in ``rewrite``.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from string import ascii_lowercase, ascii_uppercase

from bench_assets.multi.defects import MASK, MOST_OPTIONS
from bench_assets.multi.questions import blanks_in, split_options
from bench_assets.multi.source import Item

_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬"
_JOIN = r"[、和与及,，\s]*"
_CIRCLED_RUN = re.compile(rf"[{_CIRCLED}](?:{_JOIN}[{_CIRCLED}])*")
_NUMBER_RUN = re.compile(r"\d+(?:\s*[、和与及,，]\s*\d+)*")
_STATEMENT = re.compile(rf"([{_CIRCLED}])([^{_CIRCLED}]+)")

_NEGATIONS = (("正确的是[MASK]", "不正确的是[MASK]"), ("是[MASK]", "不是[MASK]"))
_NEGATIVE = re.compile(r"不|没|无|非|未|错误|除了")
_NEEDS_OPTIONS = re.compile(r"下列|以下|下面|选项|哪")
_PARALLEL = re.compile(r"\[MASK\](?:[、和与及]\[MASK\])+")
_NO_BLANK = re.compile(r"或|\[IMAGE|^[A-Z]?$")  # alternatives, pictures, letters inside a picture
_LONGEST_BLANK = 10  # characters; "no more than 10 words" (Table 1)


def choose_elements(item: Item) -> list[Item]:
    """Turn combined options into their elements, of which several are right ((1) and (3)).

    "A. 1和3  B. 2和4", gold B, becomes "A. 1  B. 2  C. 3  D. 4", gold BD. Where the stem lists
    statements ①, ②, ... after the blank, these become the options.
    """
    stem, options = split_options(item.specific)
    combined = [_elements(option) for option in options]
    if item.type != "SA" or not all(combined) or len(item.answer) != 1:
        return []
    elements = sorted({one for listed in combined for one in listed}, key=_order)
    right = combined[ascii_uppercase.index(item.answer)]
    if not 2 <= len(right) < len(elements) <= MOST_OPTIONS:
        return []
    answer = "".join(ascii_uppercase[elements.index(one)] for one in sorted(right, key=_order))
    asked, texts = _statements_as_options(stem, elements)
    return [replace(item, type="MA", specific=with_options(asked, texts), answer=answer)]


def undo_choose_elements(item: Item, changed: Item) -> bool:
    """Whether the right options, taken together, are again the one right combination."""
    stem, options = split_options(item.specific)
    right = _elements(options[ascii_uppercase.index(item.answer)])
    statements = {mark: _plain(text) for mark, text in _STATEMENT.findall(stem)}
    _, texts = split_options(changed.specific)
    chosen = [texts[ascii_uppercase.index(letter)] for letter in changed.answer]
    return [statements.get(one, one) for one in sorted(right, key=_order)] == chosen or (
        sorted(right, key=_order) == chosen
    )


def negate(item: Item) -> list[Item]:
    """Ask for what is not so: the complement of the one right option ((2))."""
    stem, options = split_options(item.specific)
    last_sentence = re.split(r"[。？！\n]", stem)[-1]
    if item.type != "SA" or len(options) < 3 or _NEGATIVE.search(last_sentence):
        return []
    for affirmed, denied in _NEGATIONS:
        if stem.count(affirmed) == 1 and stem.count(MASK) == 1:
            others = "".join(a for a in ascii_uppercase[: len(options)] if a != item.answer)
            asked = with_options(stem.replace(affirmed, denied), options)
            return [replace(item, type="MA", specific=asked, answer=others)]
    return []


def undo_negate(item: Item, changed: Item) -> bool:
    """Whether taking the negation back asks the same, with the one option left as its answer."""
    stem, options = split_options(changed.specific)
    left = "".join(a for a in ascii_uppercase[: len(options)] if a not in changed.answer)
    texts = [stem.replace(denied, affirmed) for affirmed, denied in _NEGATIONS if denied in stem]
    return left == item.answer and split_options(item.specific) == (texts[0], options)


def split_blanks(item: Item) -> list[Item]:
    """Ask for each of several parallel blanks alone, the others given: one fixed answer each ((5)).

    Blanks that stand apart are asked with the first of them, and given with the rest.
    """
    group = _PARALLEL.search(item.specific)
    golds = blanks_in(item.answer)
    if item.type != "FB" or group is None or item.text.count(MASK) != len(golds):
        return []
    if group[0].count(MASK) > len(ascii_lowercase):
        return []
    first = (item.general + item.specific[: group.start()]).count(MASK)
    members = range(first, first + group[0].count(MASK))
    return [
        replace(
            _given(item, golds, group, asked, first, apart=number == 0),
            item_id=f"{item.item_id}{ascii_lowercase[number]}",
        )
        for number, asked in enumerate(reversed(members))
    ]


def undo_split_blanks(item: Item, changed: Item) -> bool:
    """Whether the text with its answers filled in says the same, whatever the order in a group."""
    before = fill(item.text, blanks_in(item.answer))
    after = fill(changed.text, blanks_in(changed.answer))
    return sorted(before) == sorted(after)


def to_blank(item: Item) -> list[Item]:
    """Take the options away: the right one's text is what belongs into the blank (section 3.2).

    Only where what is asked stands without options, and the text is short and without "或".
    """
    stem, options = split_options(item.specific)
    if item.type != "SA" or not options or item.text.count(MASK) != 1 or len(item.answer) != 1:
        return []
    text = options[ascii_uppercase.index(item.answer)]
    asks_for_options = _NEEDS_OPTIONS.search(item.general + stem)
    if asks_for_options or len(text) > _LONGEST_BLANK or _NO_BLANK.search(text):
        return []
    return [replace(item, type="FB", specific=stem, answer=text)]


def undo_to_blank(item: Item, changed: Item) -> bool:
    """Whether the answer is the text of the right option, and of no other."""
    stem, options = split_options(item.specific)
    right = ascii_uppercase.index(item.answer)
    return (stem, [n for n, text in enumerate(options) if text == changed.answer]) == (
        changed.specific,
        [right],
    )


def with_options(stem: str, options: Sequence[str]) -> str:
    r"""Write a question with its options, one a line.

    >>> with_options("选[MASK]", ["甲", "乙"])
    '选[MASK]\nA. 甲\nB. 乙'
    """
    lines = [f"{letter}. {text}" for letter, text in zip(ascii_uppercase, options, strict=False)]
    return "\n".join([stem, *lines])


def fill(text: str, answers: Sequence[str]) -> str:
    """Put answers into blanks, in order; of alternatives the first.

    >>> fill("[MASK]是[MASK]", ["水", "氢氧化物或H2O"])
    '水是氢氧化物'
    """
    left = iter(answers)
    return re.sub(re.escape(MASK), lambda _: next(left).split("或")[0], text)


def _elements(option: str) -> tuple[str, ...]:
    """The elements a combined option names; none if it is anything else."""
    if _CIRCLED_RUN.fullmatch(option):
        return tuple(dict.fromkeys(re.findall(f"[{_CIRCLED}]", option)))
    if _NUMBER_RUN.fullmatch(option):
        return tuple(dict.fromkeys(re.findall(r"\d+", option)))
    return ()


def _order(element: str) -> int:
    return _CIRCLED.index(element) if element in _CIRCLED else int(element)


def _plain(text: str) -> str:
    return text.strip(" \n；;，,。、")


def _statements_as_options(stem: str, elements: Sequence[str]) -> tuple[str, list[str]]:
    listed = {mark: _plain(text) for mark, text in _STATEMENT.findall(stem)}
    start = stem.find(elements[0])
    if all(listed.get(one) for one in elements) and MASK in stem[:start]:
        return stem[:start].rstrip(), [listed[one] for one in elements]
    return stem, list(elements)


def _given(
    item: Item, golds: Sequence[str], group: re.Match[str], asked: int, first: int, *, apart: bool
) -> Item:
    """One sub-question: ``asked`` comes first in its group, whose others are given."""
    n = group[0].count(MASK)
    others = [golds[k].split("或")[0] for k in range(first, first + n) if k != asked]
    marks = re.findall(r"\][、和与及]", group[0])
    parallel = MASK + "".join(f"{mark[1]}{text}" for mark, text in zip(marks, others, strict=True))
    before, after = item.specific[: group.start()], item.specific[group.end() :]
    outside = [*golds[:first], *golds[first + n :]]
    if apart:
        answers = [*golds[:first], golds[asked], *golds[first + n :]]
        return replace(item, specific=before + parallel + after, answer="\n".join(answers))
    n_general = item.general.count(MASK)
    return replace(
        item,
        general=fill(item.general, outside[:n_general]),
        specific=fill(before, outside[n_general:first]) + parallel + fill(after, outside[first:]),
        answer=golds[asked],
    )
