"""The two transformations of Figure 6 that need an eye for language, and how all six are applied.

An annotator, or a chat model, says which words are to give way to which; a rule replaces them and
proves it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from bench_assets.core.schema.chat import Prompt
from bench_assets.suites.multi.construction import question_transforms
from bench_assets.suites.multi.construction.item_checks import defects
from bench_assets.suites.multi.construction.selection import uniform_draw
from bench_assets.suites.multi.dataset.source import MultiItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformation:
    """One item that came of a transformation, or the reason why none did."""

    item_id: str  # before
    name: str
    by: str  # "rule", "annotator", or the model that proposed it
    new_id: str  # after: several rows of one item_id where it was split
    type: str
    general: str
    specific: str
    answer: str
    fault: str  # why it is not applied; "" if it is


class _Rule(NamedTuple):
    make: Callable[[MultiItem], list[MultiItem]]
    undo: Callable[[MultiItem, MultiItem], bool]
    doubt: Callable[[MultiItem], str] = lambda _: ""  # why a person has to look; "" if none has


RULES: Mapping[str, _Rule] = {
    "choose_elements": _Rule(
        question_transforms.choose_elements,
        question_transforms.undo_choose_elements,
        question_transforms.doubt_of_elements,
    ),
    "split_blanks": _Rule(
        question_transforms.split_blanks,
        question_transforms.undo_split_blanks,
        question_transforms.doubt_of_order,
    ),
    "negate": _Rule(question_transforms.negate, question_transforms.undo_negate),
    "to_blank": _Rule(question_transforms.to_blank, question_transforms.undo_to_blank),
}
"""Made by rule alone: the first two wherever they can be, the others of a random share."""

FOR_REVIEW = "for review: "
"""How the fault of a transformation begins that waits for a person."""

REWRITES = ("distill", "deepen")
"""Made by replacing words that someone names."""

_ALWAYS, _AT_RANDOM = ("choose_elements", "split_blanks"), ("negate", "to_blank")

_PROPOSE = """\
下面是一道考试题。请提出一处改写，使题目更难而答案不变：
- distill：去掉会直接泄露答案的姓名、标题或说明；
- deepen：用一个事物的性质代替题目直接给出的数值或名称。
只输出三行，不要解释：
改写：distill 或 deepen
原文：题目中原样出现且只出现一次的文字
改为：代替它的文字

题目：
{text}"""
_PROPOSED = re.compile(
    r"改写[:：]\s*(distill|deepen)\s*\n原文[:：][ ]*(.+)\n改为[:：][ ]*(.*)", re.ASCII
)


def rewrite(item: MultiItem, words: str, instead: str) -> list[MultiItem]:
    """Replace words that stand exactly once in the general or the specific part ((4) and (6))."""
    if not words or item.text.count(words) != 1:
        return []
    general, specific = (part.replace(words, instead) for part in (item.general, item.specific))
    return [replace(item, general=general, specific=specific)]


def undo_rewrite(item: MultiItem, changed: MultiItem, words: str, instead: str) -> bool:
    """Whether the words are gone, and putting them back gives the item as it was.

    An ``instead`` that stands elsewhere too, or is empty, is proved by what is left and right.
    """
    before, _, after = item.text.partition(words)
    return (
        words not in changed.text
        and changed.text == before + instead + after
        and changed.answer == item.answer
    )


def proposal_prompt(item: MultiItem) -> Prompt:
    """Ask a model which words to replace, and by what; the wording is ours."""
    return Prompt.of(_PROPOSE.format(text=item.text))


def read_proposal(response: str) -> Mapping[str, str]:
    """Read a model's proposal; empty if it is not in the form asked for."""
    found = _PROPOSED.search(response)
    names = ("name", "words", "instead")
    return dict(zip(names, map(str.strip, found.groups()), strict=True)) if found else {}


def transformations(
    items: Sequence[MultiItem],
    wishes: Mapping[str, Mapping[str, str]],
    share: float,
    seed: int,
    by: str = "annotator",
) -> list[Transformation]:
    """Transform each item at most once: as is wished, else by the first rule that can.

    Args:
        items: After annotation.
        wishes: Item -> ``name`` of a transformation, and for a rewrite ``words`` and ``instead``.
        share: Of the items that no other rule changes, those to be negated or to lose their
            options ("we randomly modify", section 3.2), in [0, 1].
        seed: Draws these.
        by: Who wishes.
    """
    rows = []
    for item in items:
        if wish := wishes.get(item.item_id):
            rows += _wished(item, wish, by)
            continue
        names = [*_ALWAYS, *_drawn_names(item, share, seed)]
        made = next((made for name in names if (made := _by_rule(item, name, "rule"))), [])
        rows += made or _for_review(item)
    return rows


def apply(items: Sequence[MultiItem], rows: Sequence[Transformation]) -> list[MultiItem]:
    """Put what came of the transformations in the place of the items they began with.

    Of an item that was split, either all parts are sound or it stays whole.
    """
    changed: dict[str, list[Transformation]] = {}
    for row in rows:
        changed.setdefault(row.item_id, []).append(row)
    unsound = {row.item_id for row in rows if row.fault}
    return [
        new
        for item in items
        for new in _new(item, [] if item.item_id in unsound else changed.get(item.item_id, []))
    ]


def _for_review(item: MultiItem) -> list[Transformation]:
    """What a person may want to transform by `changes`, and why no rule does."""
    doubts = [(name, doubt) for name in _ALWAYS if (doubt := RULES[name].doubt(item))]
    return [_row(item, name, "rule", item, f"{FOR_REVIEW}{doubt}") for name, doubt in doubts]


def _drawn_names(item: MultiItem, share: float, seed: int) -> Sequence[str]:
    if uniform_draw(seed, f"transform/{item.item_id}") >= share:
        return ()
    first = uniform_draw(seed, f"which first/{item.item_id}") < 0.5
    return _AT_RANDOM if first else _AT_RANDOM[::-1]


def _wished(item: MultiItem, wish: Mapping[str, str], by: str) -> list[Transformation]:
    name = wish["name"]
    if name in RULES:
        return _by_rule(item, name, by) or [_row(item, name, by, item, "it does not apply here")]
    if name not in REWRITES:
        known = ", ".join((*RULES, *REWRITES))
        return [_row(item, name, by, item, f"no such transformation; known: {known}")]
    words, instead = wish.get("words", ""), wish.get("instead", "")
    made = rewrite(item, words, instead)
    if not made:
        return [_row(item, name, by, item, f"{words!r} does not stand there exactly once")]
    proved = undo_rewrite(item, made[0], words, instead)
    return [_row(item, name, by, made[0], _fault(made[0], proved=proved))]


def _by_rule(item: MultiItem, name: str, by: str) -> list[Transformation]:
    rule = RULES[name]
    return [
        _row(item, name, by, made, _fault(made, proved=rule.undo(item, made)))
        for made in rule.make(item)
    ]


def _fault(made: MultiItem, *, proved: bool) -> str:
    return "; ".join(([] if proved else ["undoing it does not lead back"]) + defects(made))


def _row(item: MultiItem, name: str, by: str, made: MultiItem, fault: str) -> Transformation:
    return Transformation(
        item_id=item.item_id,
        name=name,
        by=by,
        new_id=made.item_id,
        type=made.type,
        general=made.general,
        specific=made.specific,
        answer=made.answer,
        fault=fault,
    )


def _new(item: MultiItem, rows: Sequence[Transformation]) -> list[MultiItem]:
    return [
        replace(
            item,
            item_id=row.new_id,
            type=row.type,
            general=row.general,
            specific=row.specific,
            answer=row.answer,
        )
        for row in rows
    ] or [item]
