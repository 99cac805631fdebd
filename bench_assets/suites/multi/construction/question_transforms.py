"""The transformations of Figure 6 that a rule can make; each has an ``undo`` that proves it.

Of a transformation and its undoing the first is applied only if the second leads back: nothing
that was right before may be lost. The two that need an eye for language are in ``rewrite``.

By what words ``transform`` tells what may be transformed, and what a person has to look at.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from string import ascii_lowercase, ascii_uppercase

from bench_assets.suites.multi.construction.item_checks import MASK, MOST_OPTIONS
from bench_assets.suites.multi.dataset.questions import blanks_in, split_options
from bench_assets.suites.multi.dataset.source import MultiItem

CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬"
CIRCLED_RUN = re.compile(rf"[{CIRCLED}](?:[、和与及,，\s]*[{CIRCLED}])*")
# Commas make triples and thousands: 3,4,5 and 1,200 are one thing each.
NUMBER_RUN = re.compile(r"\d{1,2}(?:\s*[和与及]\s*\d{1,2})+|\d{1,2}")
STATEMENT = re.compile(rf"([{CIRCLED}])([^{CIRCLED}]+)")
AS_A_WHOLE = re.compile(
    r"顺序|次序|先后|依次|排列|排序|步骤|流程|搭配|组合|各组|一组|边长|坐标|之比"
)

NEGATIONS = (("正确的是[MASK]", "不正确的是[MASK]"), ("是[MASK]", "不是[MASK]"))
NEGATIVE = re.compile(r"不|没|无|非|未|错误|除了")
# "可能不是" is no complement of "可能是", and "于是" is no "是".
NO_NEGATION = re.compile(
    r"(?:可能|一定|必然|必须|应该?|至少|只|仅|通常|往往|于|还|但|凡|(?<!首)都|也|就|像|要)是\[MASK\]"
)
OTHER_OPTIONS = re.compile(
    r"以上|上述|前[两三]项|其[他它]|[都均皆][不是对正错]|[A-M][、和与及]\s*[A-M]"
    r"|\b(?:all|none|both|neither) of\b",
    re.IGNORECASE,
)
NEEDS_OPTIONS = re.compile(r"下列|以下|下面|选项|哪")
NOT_UNIQUE = re.compile(r"可以|可能|能够|属于|之一|接近|大约|估计|例如|不")
PARALLEL = re.compile(r"\[MASK\](?:[、和与及]\[MASK\])+")
WHICH_IS_WHICH = re.compile(r"分别|依次|respectively", re.IGNORECASE)
IN_ORDER = re.compile(
    r"比|差|先后|顺序|前者|坐标|较|[由从][大小高低多少强弱早左上]|[大小多少高低]于|[(（]\[MASK\]"
)
NAMED_ONE_BY_ONE = re.compile(r"[^\s,，。；;、\]][、和与及][^\s,，。；;、\[]")
NO_BLANK = re.compile(r"或|\[IMAGE|^[A-Z]?$")  # alternatives, images, letters inside an image
LONGEST_BLANK = 10  # characters; "no more than 10 words" (Table 1)


def elements_of(option: str) -> tuple[str, ...]:
    """The elements a combined option names; none if it is anything else."""
    if CIRCLED_RUN.fullmatch(option):
        return tuple(dict.fromkeys(re.findall(f"[{CIRCLED}]", option)))
    if NUMBER_RUN.fullmatch(option):
        return tuple(dict.fromkeys(re.findall(r"\d+", option)))
    return ()


def order_of(element: str) -> int:
    """Where an element stands among others of its kind."""
    return CIRCLED.index(element) if element in CIRCLED else int(element)


def stripped(text: str) -> str:
    """Take off what separates one statement from the next."""
    return text.strip(" \n；;，,。、")


def blanks_before(item: MultiItem, group: re.Match[str]) -> int:
    """How many blanks come before a group of them."""
    return (item.general + item.specific[: group.start()]).count(MASK)


def sentence_around(item: MultiItem, group: re.Match[str]) -> str:
    """The sentence that the blanks stand in; what other blanks stand for is not known yet."""
    before = re.split(r"[。；;？?！!\n]", item.specific[: group.start()])[-1]
    after = re.split(r"[。；;？?！!\n]", item.specific[group.end() :])[0]
    return f"{before}{group[0]}{after}"


def choose_elements(item: MultiItem) -> list[MultiItem]:
    """Turn combined options into their elements, of which several are right ((1) and (3)).

    "A. 1和3  B. 2和4", gold B, becomes "A. 1  B. 2  C. 3  D. 4", gold BD. Where the stem lists
    statements ①, ②, ... after the blank, these become the options.
    """
    stem, options = split_options(item.specific)
    combined = [elements_of(option) for option in options]
    if item.type != "SA" or not all(combined) or len(item.answer) != 1:
        return []
    if doubt_of_elements(item):
        return []
    elements = sorted({one for listed in combined for one in listed}, key=order_of)
    right = combined[ascii_uppercase.index(item.answer)]
    if not 2 <= len(right) < len(elements) <= MOST_OPTIONS:
        return []
    answer = "".join(ascii_uppercase[elements.index(one)] for one in sorted(right, key=order_of))
    asked, texts = _statements_as_options(stem, elements)
    return [replace(item, type="MA", specific=with_options(asked, texts), answer=answer)]


def doubt_of_elements(item: MultiItem) -> str:
    """Say why a person has to look before combined options are taken apart; "" if none has.

    What is true of a combination need not be true of its elements: an order, a triple, a pair.
    """
    stem, options = split_options(item.specific)
    combined = [elements_of(option) for option in options]
    if item.type != "SA" or not all(combined) or max(map(len, combined), default=0) < 2:
        return ""
    if found := AS_A_WHOLE.search(stem):
        return f"the options may hold only as a whole: {found[0]}"
    if any(list(listed) != sorted(listed, key=order_of) for listed in combined):
        return "the options may be orders"
    labels = sorted({order_of(one) for listed in combined for one in listed})
    if options[0][0] not in CIRCLED and labels != [*range(1, len(labels) + 1)]:
        return "the numbers in the options may be values"
    return ""


def undo_choose_elements(item: MultiItem, changed: MultiItem) -> bool:
    """Whether the right options, taken together, are again the one right combination."""
    stem, options = split_options(item.specific)
    right = elements_of(options[ascii_uppercase.index(item.answer)])
    statements = {mark: stripped(text) for mark, text in STATEMENT.findall(stem)}
    _, texts = split_options(changed.specific)
    chosen = [texts[ascii_uppercase.index(letter)] for letter in changed.answer]
    return [statements.get(one, one) for one in sorted(right, key=order_of)] == chosen or (
        sorted(right, key=order_of) == chosen
    )


def negate(item: MultiItem) -> list[MultiItem]:
    """Ask for what is not so: the complement of the one right option ((2)).

    Not where an option speaks of others ("以上都是"), nor of what only may or must be.
    """
    stem, options = split_options(item.specific)
    last_sentence = re.split(r"[。？！\n]", stem)[-1]
    if item.type != "SA" or len(options) < 3 or NEGATIVE.search(last_sentence):
        return []
    if NO_NEGATION.search(stem) or any(map(OTHER_OPTIONS.search, options)):
        return []
    for affirmed, denied in NEGATIONS:
        if stem.count(affirmed) == 1 and stem.count(MASK) == 1:
            others = "".join(a for a in ascii_uppercase[: len(options)] if a != item.answer)
            asked = with_options(stem.replace(affirmed, denied), options)
            return [replace(item, type="MA", specific=asked, answer=others)]
    return []


def undo_negate(item: MultiItem, changed: MultiItem) -> bool:
    """Whether taking the negation back asks the same, with the one option left as its answer."""
    stem, options = split_options(changed.specific)
    left = "".join(a for a in ascii_uppercase[: len(options)] if a not in changed.answer)
    texts = [stem.replace(denied, affirmed) for affirmed, denied in NEGATIONS if denied in stem]
    return left == item.answer and split_options(item.specific) == (texts[0], options)


def split_blanks(item: MultiItem) -> list[MultiItem]:
    """Ask for each of several parallel blanks alone, the others given: one fixed answer each ((5)).

    Where the order is free the blank asked comes first in its group; where 分别, 依次 or
    "respectively" says which is which it stays in its place. Elsewhere nothing is made.
    Blanks that stand apart are asked with the first of them, and given with the rest.
    """
    group = _group(item)
    if group is None or doubt_of_order(item):
        return []
    first = blanks_before(item, group)
    members = range(first, first + group[0].count(MASK))
    fixed = WHICH_IS_WHICH.search(sentence_around(item, group)) is not None
    return [
        replace(
            _given(item, group, asked, apart=number == 0, fixed=fixed),
            item_id=f"{item.item_id}{ascii_lowercase[number]}",
        )
        for number, asked in enumerate(members if fixed else reversed(members))
    ]


def doubt_of_order(item: MultiItem) -> str:
    """Say why a person has to look before parallel blanks are split; "" if none has."""
    group = _group(item)
    if group is None:
        return ""
    sentence = sentence_around(item, group)
    if WHICH_IS_WHICH.search(sentence):
        return ""
    if found := IN_ORDER.search(sentence) or NAMED_ONE_BY_ONE.search(sentence):
        return f"the order of the blanks may count: {found[0]}"
    return ""


def undo_split_blanks(item: MultiItem, changed: MultiItem) -> bool:
    """Whether the text with its answers filled in says the same; the order only if it is free."""
    before = fill(item.text, blanks_in(item.answer))
    after = fill(changed.text, blanks_in(changed.answer))
    group = _group(item)
    fixed = group is None or WHICH_IS_WHICH.search(sentence_around(item, group)) is not None
    return before == after if fixed else sorted(before) == sorted(after)


def to_blank(item: MultiItem) -> list[MultiItem]:
    """Take the options away: the right one's text is what belongs into the blank (section 3.2).

    Only where what is asked stands without options, and the text is short and without "或".
    """
    stem, options = split_options(item.specific)
    if item.type != "SA" or not options or item.text.count(MASK) != 1 or len(item.answer) != 1:
        return []
    text = options[ascii_uppercase.index(item.answer)]
    asks_for_options = NEEDS_OPTIONS.search(item.general + stem) or NOT_UNIQUE.search(stem)
    if (
        asks_for_options
        or OTHER_OPTIONS.search(text)
        or len(text) > LONGEST_BLANK
        or NO_BLANK.search(text)
    ):
        return []
    return [replace(item, type="FB", specific=stem, answer=text)]


def undo_to_blank(item: MultiItem, changed: MultiItem) -> bool:
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


def _statements_as_options(stem: str, elements: Sequence[str]) -> tuple[str, list[str]]:
    listed = {mark: stripped(text) for mark, text in STATEMENT.findall(stem)}
    start = stem.find(elements[0])
    if all(listed.get(one) for one in elements) and MASK in stem[:start]:
        return stem[:start].rstrip(), [listed[one] for one in elements]
    return stem, list(elements)


def _group(item: MultiItem) -> re.Match[str] | None:
    """The parallel blanks of a question, if each of all its blanks has a gold."""
    group = PARALLEL.search(item.specific)
    fits = item.text.count(MASK) == len(blanks_in(item.answer))
    few = group is not None and group[0].count(MASK) <= len(ascii_lowercase)
    return group if item.type == "FB" and fits and few else None


def _given(
    item: MultiItem, group: re.Match[str], asked: int, *, apart: bool, fixed: bool
) -> MultiItem:
    """One sub-question: the others of its group are given, before or after it."""
    golds, first = blanks_in(item.answer), blanks_before(item, group)
    n = group[0].count(MASK)
    texts = [golds[k].split("或")[0] if k != asked else MASK for k in range(first, first + n)]
    if not fixed:
        texts.insert(0, texts.pop(asked - first))
    marks = [*re.findall(r"\]([、和与及])", group[0]), ""]
    parallel = "".join(text + mark for text, mark in zip(texts, marks, strict=True))
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
