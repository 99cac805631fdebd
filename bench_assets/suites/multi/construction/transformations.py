"""Transformations of items (section 3.2, Figure 6), and their keys as proposals for solvers.

Rules transform items (``question_transforms``); for the two rewrites, distillation and deepening,
annotators or a model choose the words. A transformation is applied if its key is accepted, by
solvers, by people, or because an annotator requested it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase

from bench_assets.annotation.gold import GoldStep
from bench_assets.annotation.tasks import SourceTable
from bench_assets.core.gold.proposals import DecidedProposal, Proposal, same_value
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.multi.construction import question_transforms as rules
from bench_assets.suites.multi.construction.item_checks import MASK, defects
from bench_assets.suites.multi.construction.selection import uniform_draw
from bench_assets.suites.multi.dataset.questions import gold_blanks, split_options
from bench_assets.suites.multi.dataset.source import MultiItem
from bench_assets.suites.multi.notation import matches_gold
from bench_assets.suites.multi.prompts import IMAGE_TOKEN

ANNOTATOR = "annotator"

REWRITES = ("distill", "deepen")
"""Transformations that replace words of the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformation:
    """A transformed item, with the proof of its key or its fault."""

    item_id: str  # before
    name: str
    by: str  # "rule", "annotator", or the model that proposed it
    new_id: str  # after: several rows of one item_id where it was split
    type: str
    general: str
    specific: str
    answer: str
    proof: str = ""  # the form that proves the key; "" if there is none
    fault: str  # why it is not applied; "" if it is

    @property
    def proposal_id(self) -> str:
        """Id of the proposal of its key."""
        return f"{self.new_id}/{self.name}"


RULES: Mapping[str, Callable[[MultiItem], list[MultiItem]]] = {
    "choose_elements": rules.choose_elements,
    "split_blanks": rules.split_blanks,
    "negate": rules.negate,
    "to_blank": rules.to_blank,
}
"""The first two are proposed wherever they apply, the others for a random share."""

_FIXED_RULES, _RANDOM_RULES = ("choose_elements", "split_blanks"), ("negate", "to_blank")

_PROPOSAL_PROMPT = """\
下面是一道考试题。请提出一处改写，使题目更难而答案不变：
- distill：去掉会直接泄露答案的姓名、标题或说明；
- deepen：用一个事物的性质代替题目直接给出的数值或名称。
只输出三行，不要解释：
改写：distill 或 deepen
原文：题目中原样出现且只出现一次的文字
改为：代替它的文字

题目：
{text}"""
_MARK = re.compile(rf"{re.escape(MASK)}|{IMAGE_TOKEN.pattern}")
_OPTION_LETTER = re.compile(r"答案|选\s*[A-M](?![A-Za-z])|[A-M]\s*(?:项|选项)")
_PUNCTUATION = re.compile(r"[\s${}\\_^《》“”\"'‘’()（）,，。.、:：;；·]")
_PROPOSED = re.compile(
    r"改写[:：]\s*(distill|deepen)\s*\n原文[:：][ ]*(.+)\n改为[:：][ ]*(.*)", re.ASCII
)


def proposal_prompt(item: MultiItem) -> Prompt:
    """Ask a model which words to replace and by what; the wording is ours."""
    return Prompt.of(_PROPOSAL_PROMPT.format(text=item.text))


def read_proposal(response: str) -> Mapping[str, str]:
    """Parse a model's proposal; empty if it is not in the format."""
    match = _PROPOSED.search(response)
    names = ("name", "words", "instead")
    return dict(zip(names, map(str.strip, match.groups()), strict=True)) if match else {}


def propose(
    items: Iterable[MultiItem],
    requests: Mapping[str, Mapping[str, str]],
    share: float,
    seed: int,
    by: str = ANNOTATOR,
) -> list[Transformation]:
    """Propose at most one transformation per item: the requested one, or one of the rules.

    Args:
        items: After annotation.
        requests: Item -> ``name`` of a transformation, and for a rewrite ``words`` and ``instead``.
        share: Of items to which the random rules, negation and removal of options, are tried ("we
            randomly modify", section 3.2), in [0, 1].
        seed: Seed of that share.
        by: Who made the requests.
    """
    rows = []
    for item in items:
        if request := requests.get(item.item_id):
            rows += _apply_request(item, request, by)
            continue
        names = [*_FIXED_RULES, *_draw_rules(item, share, seed)]
        rows += next(filter(None, (_apply_rule(item, name, "rule") for name in names)), [])
    return rows


def apply_transformation(item: MultiItem, row: Transformation) -> MultiItem:
    """Apply a transformation to its item."""
    return replace(
        item,
        item_id=row.new_id,
        type=row.type,
        general=row.general,
        specific=row.specific,
        answer=row.answer,
    )


def key_proposals(
    rows: Iterable[Transformation], items: Iterable[MultiItem], images: Iterable[StoredImage]
) -> list[list[Proposal]]:
    """Propose the key of each sound transformation."""
    by_id = {item.item_id: item for item in items}
    stored = {image.name: image.sha256 for image in images}
    return [[_proposal(row, by_id[row.item_id], stored)] for row in rows if not row.fault]


def settle(
    rows: Iterable[Transformation], decided: Iterable[DecidedProposal]
) -> list[Transformation]:
    """Add the reason as a fault to each transformation whose key is not accepted."""
    reasons = {
        row.id: f"{row.decision}: {row.reason}" for row in decided if row.decision != "accepted"
    }
    return [replace(row, fault=row.fault or reasons.get(row.proposal_id, "")) for row in rows]


def apply_transformations(
    items: Sequence[MultiItem], rows: Sequence[Transformation]
) -> list[MultiItem]:
    """Replace items by their transformations; a split item needs all its parts to be sound."""
    changed: dict[str, list[Transformation]] = {}
    for row in rows:
        changed.setdefault(row.item_id, []).append(row)
    unsound = {row.item_id for row in rows if row.fault}
    return [
        new
        for item in items
        for new in (
            [apply_transformation(item, row) for row in changed[item.item_id]]
            if item.item_id in changed.keys() - unsound
            else [item]
        )
    ]


def rewrite_faults(item: MultiItem, made: MultiItem, words: str, instead: str) -> list[str]:
    """List faults of a rewrite: not reversible, changes more than the stem, leaks the answer."""
    before, _, after = item.text.partition(words)
    undone = words not in made.text and made.text == before + instead + after
    faults = {
        "undoing it does not restore the item": not undone or made.answer != item.answer,
        "it changes the options": _stem_and_options(item)[1] != _stem_and_options(made)[1],
        "it changes the images or blanks": _marks(item) != _marks(made),
        f"it leaks the answer: {instead:.40}": _leaks_answer(item, made, instead),
    }
    return [fault for fault, holds in faults.items() if holds]


def _apply_request(item: MultiItem, request: Mapping[str, str], by: str) -> list[Transformation]:
    name = request["name"]
    if name in RULES:
        return _apply_rule(item, name, by) or [
            _transformation(item, item, name, by, "it does not apply here")
        ]
    if name not in REWRITES:
        known = ", ".join((*RULES, *REWRITES))
        return [_transformation(item, item, name, by, f"no such transformation; known: {known}")]
    words, instead = request.get("words", ""), request.get("instead", "")
    if not words or item.text.count(words) != 1:
        return [_transformation(item, item, name, by, f"{words!r} does not occur exactly once")]
    general, specific = (part.replace(words, instead) for part in (item.general, item.specific))
    transformed = replace(item, general=general, specific=specific)
    faults = rewrite_faults(item, transformed, words, instead) + defects(transformed)
    return [_transformation(item, transformed, name, by, "; ".join(faults))]


def _apply_rule(item: MultiItem, name: str, by: str) -> list[Transformation]:
    variants = RULES[name](item)
    proof = rules.proof_of_elements(item) if variants and name == "choose_elements" else ""
    return [
        replace(_transformation(item, variant, name, by, "; ".join(defects(variant))), proof=proof)
        for variant in variants
    ]


def _transformation(
    item: MultiItem, made: MultiItem, name: str, by: str, fault: str
) -> Transformation:
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


def _proposal(row: Transformation, item: MultiItem, stored: Mapping[str, str]) -> Proposal:
    is_choice = row.type in ("SA", "MA")
    return Proposal(
        id=row.proposal_id,
        question_id=row.proposal_id,
        construction=row.name,
        before=item.text,
        question=apply_transformation(item, row).text,
        images=tuple(stored[name] for name in item.images if name in stored),
        answer_form="letters" if is_choice else "blanks" if row.type == "FB" else "text",
        key=row.answer,
        form="proven" if row.proof else "",
        why=row.proof,
        requested_by=row.by if row.by == ANNOTATOR else "",
    )


def _matches(line: str, key: str) -> bool:
    return same_value(line, key) or matches_gold(line, key)


def _draw_rules(item: MultiItem, share: float, seed: int) -> Sequence[str]:
    if uniform_draw(seed, f"transform/{item.item_id}") >= share:
        return ()
    first = uniform_draw(seed, f"which first/{item.item_id}") < 0.5
    return _RANDOM_RULES if first else _RANDOM_RULES[::-1]


def _marks(item: MultiItem) -> list[str]:
    return _MARK.findall(item.text)


def _stem_and_options(item: MultiItem) -> tuple[str, tuple[str, ...]]:
    return split_options(item.text) if item.type in ("SA", "MA") else (item.text, ())


def _leaks_answer(item: MultiItem, made: MultiItem, instead: str) -> bool:
    """Whether the new stem has a gold, a part of one, or a letter that the old stem lacks."""
    old, new = (_normalize_text(_stem_and_options(version)[0]) for version in (item, made))
    golds = [gold for gold in map(_normalize_text, _golds(item)) if gold]
    part = _normalize_text(instead)
    return (
        any(new.count(gold) > old.count(gold) for gold in golds)
        or (len(part) > 1 and part not in old and any(part in gold for gold in golds))
        or _OPTION_LETTER.search(instead) is not None
    )


def _golds(item: MultiItem) -> list[str]:
    if item.type in ("SA", "MA"):
        options = dict(zip(ascii_uppercase, _stem_and_options(item)[1], strict=False))
        return [options.get(letter, "") for letter in item.answer]
    return [part for line in gold_blanks(item.answer) for part in re.split("[或、；;]", line)]


def _normalize_text(text: str) -> str:
    return _PUNCTUATION.sub("", unicodedata.normalize("NFKC", text)).casefold()


TRANSFORMED = GoldStep(
    folder="multi",
    reads={
        "rows": SourceTable("multi/transformation_proposals", Transformation),
        "items": SourceTable("multi/annotated_items", MultiItem),
        "images": SourceTable("multi/images", StoredImage),
    },
    candidates=key_proposals,
    quorum="form and one",
    matches=_matches,
)
