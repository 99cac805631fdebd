"""The four transformations of section 3.2 that rules can make (Figure 6).

Each rule proposes the items that replace one, [] if it does not apply; solvers or annotators decide
about their keys. ``proof_of_elements`` names the one form that proves a key by itself.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from string import ascii_lowercase, ascii_uppercase

from bench_assets.suites.multi.construction.item_checks import MASK, MAX_OPTIONS
from bench_assets.suites.multi.dataset.questions import gold_blanks, split_options
from bench_assets.suites.multi.dataset.source import MultiItem

CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬"
_CIRCLED_RUN = re.compile(rf"[{CIRCLED}](?:[、和与及,，\s]*[{CIRCLED}])*")
# Not separated by commas: 3,4,5 and 1,200 are one element each.
_NUMBER_RUN = re.compile(r"\d{1,2}(?:\s*[和与及]\s*\d{1,2})+|\d{1,2}")
_STATEMENT = re.compile(rf"([{CIRCLED}])([^{CIRCLED}]+)")
_MIN_STATEMENT = 8  # characters of a statement; a shorter text may be the member of a pair

_AFFIRMED = re.compile(r"(?<![定能然])正\s*确(?=\s*的\s*(?:一\s*项\s*)?是\s*\[MASK\])")
_NEGATIVE = re.compile(r"不|没|无|非|未|错|误|除")
_OTHER_OPTIONS = re.compile(
    r"以上|上述|前[两三]项|其[他它]|[都均皆][不是对正错有]|[两二三]者|[A-M][、和与及]\s*[A-M]"
    r"|\b(?:all|none|both|neither) of\b",
    re.IGNORECASE,
)
_NAMED = re.compile(f"[{CIRCLED}]")
_PARTS = re.compile(r"[、和与及或,，;；\s]+")
_NEEDS_OPTIONS = re.compile(r"下列|以下|下面|选项|哪|[一几]项|有误|正确|错误|接近")
_PARALLEL = re.compile(r"\[MASK\](?:[、和与及]\[MASK\])+")
_FORMULA = re.compile(r"\$[^$]*\$")
_VALUE = re.compile(rf"[\d$π√{CIRCLED}]")  # a number, a formula or a mark
_WORDS = re.compile(r"[\u3400-\u9fff]|[A-Za-z]{4,}|或|\[IMAGE")
# A letter by itself names something in an image or table; several inequalities may be right.
_LETTER = re.compile(r"\$?\s*(?:\\mathrm\s*)?\{*\s*[A-Z]\s*\}*\s*\$?")
_RELATION = re.compile(r"[<>≤≥]|\\[lg]e")
_LONGEST_BLANK = 40  # characters of an option that becomes a blank, at most


def choose_elements(item: MultiItem) -> list[MultiItem]:
    """Turn combined options into their elements, several of them right (Figure 6 (1), (3)).

    "A. 1和3  B. 2和4", gold B, becomes "A. 1  B. 2  C. 3  D. 4", gold BD. If the stem lists
    statements ①, ②, ... after the blank, these become the options. Options that may be sequences
    are left alone.
    """
    stem, options = split_options(item.specific)
    option_elements = [_elements(option) for option in options]
    if item.type != "SA" or len(item.answer) != 1 or not options or not all(option_elements):
        return []
    if any(list(elements) != sorted(elements, key=_element_rank) for elements in option_elements):
        return []
    elements = sorted(set().union(*option_elements), key=_element_rank)
    right = option_elements[ascii_uppercase.index(item.answer)]
    if not 2 <= len(right) < len(elements) <= MAX_OPTIONS:
        return []
    answer = "".join(ascii_uppercase[elements.index(element)] for element in right)
    new_stem, new_options = _statements_as_options(stem, elements)
    specific = format_question(new_stem, new_options)
    return [replace(item, type="MA", specific=specific, answer=answer)]


def proof_of_elements(item: MultiItem) -> str:
    """Name the form that proves each element right or wrong by itself; "" without it.

    Exactly one option is right. If all other elements of a wrong option are right, its last one is
    wrong. The elements must be statements: members of a pair prove nothing.

    Args:
        item: One to which ``choose_elements`` applies.
    """
    stem, options = split_options(item.specific)
    option_elements = [set(_elements(option)) for option in options]
    right = option_elements[ascii_uppercase.index(item.answer)]
    proven_wrong: set[str] = set()
    for elements in option_elements:
        if len(elements - right) == 1:
            proven_wrong |= elements - right
    all_elements, statements = set().union(*option_elements), _statements(item.general + stem)
    are_statements = all(len(statements.get(mark, "")) >= _MIN_STATEMENT for mark in all_elements)
    is_proven = are_statements and proven_wrong == all_elements - right
    return "one option is right" if is_proven else ""


def negate(item: MultiItem) -> list[MultiItem]:
    """Ask for the wrong options (错误) instead of the right one (正确) (Figure 6 (2)).

    Not for fewer than three options, a negative question, or options that combine or name others.
    """
    stem, options = split_options(item.specific)
    before_blank, _, _ = re.sub(r"\s", "", stem).partition(MASK)
    clause = re.split("[。？！]", before_blank)[-1]
    if item.type != "SA" or len(options) < 3 or stem.count(MASK) != 1 or _NEGATIVE.search(clause):
        return []
    negated, n_replaced = _AFFIRMED.subn("错误", stem)
    if n_replaced != 1 or _are_combined(options):
        return []
    letters = ascii_uppercase[: len(options)]
    answer = "".join(letter for letter in letters if letter != item.answer)
    return [replace(item, type="MA", specific=format_question(negated, options), answer=answer)]


def split_blanks(item: MultiItem) -> list[MultiItem]:
    """Ask for each of several parallel blanks alone, with the others filled in (Figure 6 (5)).

    Blanks outside the parallel group stay in the question of its first blank only.
    """
    group = _find_blank_group(item)
    if group is None:
        return []
    n_before = _blanks_before(item, group)
    return [
        replace(
            _blank_subquestion(item, group, n_before + index),
            item_id=f"{item.item_id}{ascii_lowercase[index]}",
        )
        for index in range(group[0].count(MASK))
    ]


def to_blank(item: MultiItem) -> list[MultiItem]:
    """Remove the options; the right one, a number, formula or mark, is the answer (3.2)."""
    stem, options = split_options(item.specific)
    if item.type != "SA" or not options or item.text.count(MASK) != 1 or len(item.answer) != 1:
        return []
    answer = options[ascii_uppercase.index(item.answer)].strip()
    needs_options = _NEEDS_OPTIONS.search(re.sub(r"\s", "", item.general + stem))
    if needs_options or not _is_value(answer):
        return []
    return [replace(item, type="FB", specific=stem, answer=answer)]


def format_question(stem: str, options: Sequence[str]) -> str:
    r"""Write a question with its options, one per line.

    >>> format_question("选[MASK]", ["甲", "乙"])
    '选[MASK]\nA. 甲\nB. 乙'
    """
    lines = [f"{letter}. {text}" for letter, text in zip(ascii_uppercase, options, strict=False)]
    return "\n".join([stem, *lines])


def fill(text: str, answers: Sequence[str]) -> str:
    """Fill answers into blanks, in order; of alternatives ("或") the first.

    >>> fill("[MASK]是[MASK]", ["水", "氢氧化物或H2O"])
    '水是氢氧化物'
    """
    remaining = iter(answers)
    return re.sub(re.escape(MASK), lambda _: next(remaining).split("或")[0], text)


def _is_value(option: str) -> bool:
    """Whether an option is a number, a formula or a mark: no words, relation or single letter."""
    if len(option) > _LONGEST_BLANK or not _VALUE.search(option) or _LETTER.fullmatch(option):
        return False
    return not _WORDS.search(_FORMULA.sub("", option)) and not _RELATION.search(option)


def _elements(option: str) -> tuple[str, ...]:
    """Return the elements that a combined option names; () for any other option."""
    if _CIRCLED_RUN.fullmatch(option):
        return tuple(dict.fromkeys(re.findall(f"[{CIRCLED}]", option)))
    if _NUMBER_RUN.fullmatch(option):
        return tuple(dict.fromkeys(re.findall(r"\d+", option)))
    return ()


def _element_rank(element: str) -> int:
    """Number that a circled or plain number stands for, for sorting."""
    return CIRCLED.index(element) + 1 if element in CIRCLED else int(element)


def _are_combined(options: Sequence[str]) -> bool:
    """Whether an option names others, has a mark, or shares a part with another one."""
    if any(_NAMED.search(option) or _OTHER_OPTIONS.search(option) for option in options):
        return True
    parts = [set(filter(None, _PARTS.split(option))) for option in options]
    return any(first & second for first, second in combinations(parts, 2))


def _statements(stem: str) -> dict[str, str]:
    """Statements that a stem lists, by their marks ①, ②, ...; the last has the rest of the stem."""
    return {mark: text.strip(" \n；;，,。、") for mark, text in _STATEMENT.findall(stem)}


def _statements_as_options(stem: str, elements: Sequence[str]) -> tuple[str, list[str]]:
    """Move statements from the stem to the options, if nothing else follows the blank.

    Otherwise, the elements are the options.
    """
    start = stem.find(elements[0])
    marks = [mark for mark, _ in _STATEMENT.findall(stem[start:])]
    if marks != list(elements) or MASK not in stem[:start]:
        return stem, list(elements)
    statements = _statements(stem)
    options = [statements[mark] for mark in elements]
    if not all(options) or any(re.search(r"[。\n]", option) for option in options):
        return stem, list(elements)
    return stem[:start].rstrip(), options


def _find_blank_group(item: MultiItem) -> re.Match[str] | None:
    """Find the parallel blanks of a question whose blanks all have a gold."""
    if item.type != "FB" or item.text.count(MASK) != len(gold_blanks(item.answer)):
        return None
    group = _PARALLEL.search(item.specific)
    if group is None or group[0].count(MASK) > len(ascii_lowercase):  # for letters of new ids
        return None
    return group


def _blanks_before(item: MultiItem, group: re.Match[str]) -> int:
    """Number of blanks of an item before the parallel ones."""
    return (item.general + item.specific[: group.start()]).count(MASK)


def _blank_subquestion(item: MultiItem, group: re.Match[str], blank_index: int) -> MultiItem:
    """Make a sub-question for one blank, with the others of its group filled in."""
    golds, first = gold_blanks(item.answer), _blanks_before(item, group)
    group_indices = range(first, first + group[0].count(MASK))
    kept = {blank_index}
    if blank_index == first:
        kept |= set(range(len(golds))) - set(group_indices)
    texts = [MASK if index in kept else gold for index, gold in enumerate(golds)]
    n_general = item.general.count(MASK)
    return replace(
        item,
        general=fill(item.general, texts[:n_general]),
        specific=fill(item.specific, texts[n_general:]),
        answer="\n".join(golds[index] for index in sorted(kept)),
    )
