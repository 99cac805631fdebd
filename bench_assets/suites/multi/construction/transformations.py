"""Transformations of items (section 3.2, Figure 6): proposals, and the decisions on their gold.

Rules make proposals (``question_transforms``); for the two rewrites, distillation and deepening,
annotators or a model choose the words. A proposal is applied only if its gold is proven by a form
of the whitelist, requested or written by an annotator, or found by every solver model. All others
wait for review.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import NamedTuple

from bench_assets.core.schema.chat import Prompt
from bench_assets.suites.multi.construction import question_transforms as rules
from bench_assets.suites.multi.construction.item_checks import MASK, defects
from bench_assets.suites.multi.construction.selection import uniform_draw
from bench_assets.suites.multi.dataset.questions import gold_blanks, split_options
from bench_assets.suites.multi.dataset.source import MultiItem
from bench_assets.suites.multi.prompts import IMAGE_TOKEN

ANNOTATOR, BY_HAND, ACCEPT = "annotator", "by hand", "accept"
FOR_REVIEW = "for review: "
"""Prefix of the fault of a transformation whose gold is not confirmed yet."""

REWRITES = ("distill", "deepen")
"""Transformations that replace words of the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformation:
    """A transformed item, with the proof of its key or its fault."""

    item_id: str  # before
    name: str
    by: str  # "rule", "annotator", an annotator, or the model that proposed it
    new_id: str  # after: several rows of one item_id where it was split
    type: str
    general: str
    specific: str
    answer: str
    proof: str = ""  # a form of the whitelist, "annotator" or "solvers: ..."; "" if there is none
    fault: str  # why it is not applied; "" if it is


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverAnswer:
    """A solver's answer to a proposed question."""

    new_id: str
    name: str  # of the transformation
    solver: str
    answer: str  # as the careful scorer reads it
    agrees: bool  # with all of the new gold
    error: str = ""


class _Rule(NamedTuple):
    make: Callable[[MultiItem], list[MultiItem]]
    undo: Callable[[MultiItem, MultiItem], bool]
    proof: Callable[[MultiItem], str]


RULES: Mapping[str, _Rule] = {
    "choose_elements": _Rule(
        rules.choose_elements, rules.undo_choose_elements, rules.proof_of_elements
    ),
    "split_blanks": _Rule(rules.split_blanks, rules.undo_split_blanks, rules.proof_of_split),
    "negate": _Rule(rules.negate, rules.undo_negate, rules.proof_of_negation),
    "to_blank": _Rule(rules.to_blank, rules.undo_to_blank, rules.proof_of_blank),
}
"""The first two are proposed wherever they apply, the others for a random share."""

_SOLVERS = "solvers: "
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
    found = _PROPOSED.search(response)
    names = ("name", "words", "instead")
    return dict(zip(names, map(str.strip, found.groups()), strict=True)) if found else {}


def propose(
    items: Iterable[MultiItem],
    requests: Mapping[str, Mapping[str, str]],
    share: float,
    seed: int,
    by: str = ANNOTATOR,
) -> list[Transformation]:
    """Propose at most one transformation per item: the requested one, or one of the rules.

    Among the rules, the first whose gold is proven is preferred.

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
        proposals = [found for name in names if (found := _apply_rule(item, name, "rule"))]
        rows += max(proposals, key=lambda found: all(row.proof for row in found), default=[])
    return rows


def select_unproven(rows: Iterable[Transformation]) -> list[Transformation]:
    """Select sound proposals whose gold is not confirmed yet."""
    return [row for row in rows if row.fault.startswith(FOR_REVIEW)]


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


def confirm(
    rows: Sequence[Transformation], answers: Iterable[SolverAnswer], solvers: Sequence[str]
) -> list[Transformation]:
    """Confirm the proposals whose gold every solver finds; a split item needs it for all parts.

    Args:
        rows: Proposals.
        answers: Answers of the solvers.
        solvers: Two or more models; with fewer, nothing is confirmed.
    """
    agreed: dict[tuple[str, str], set[str]] = {}
    for answer in answers:
        if answer.agrees:
            agreed.setdefault((answer.new_id, answer.name), set()).add(answer.solver)
    named = set(solvers)
    lacking = {
        row.item_id
        for row in select_unproven(rows)
        if len(named) < 2 or agreed.get((row.new_id, row.name), set()) < named
    }
    return [
        replace(row, proof=f"{_SOLVERS}{', '.join(solvers)}", fault="")
        if row.fault.startswith(FOR_REVIEW) and row.item_id not in lacking
        else row
        for row in rows
    ]


def accept(rows: Iterable[Transformation], item_ids: Collection[str]) -> list[Transformation]:
    """Confirm the proposals that annotators accept."""
    return [
        replace(row, proof=ANNOTATOR, fault="")
        if row.fault.startswith(FOR_REVIEW) and row.item_id in item_ids
        else row
        for row in rows
    ]


def shares(rows: Sequence[Transformation]) -> dict[str, int | float]:
    """Number and share of transformations by outcome, for the asset's metadata."""
    outcomes = [_outcome(row) for row in rows]
    names = ("proven by rule", "by annotators", "agreed by solvers", "for review", "faulty")
    counts: dict[str, int | float] = {name: outcomes.count(name) for name in names}
    return counts | {f"share {name}": counts[name] / max(1, len(rows)) for name in names}


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


def make_transformation(
    item: MultiItem, made: MultiItem, name: str, by: str, proof: str, fault: str
) -> Transformation:
    """Make the row of a transformation; a sound one without a proof is for review."""
    return Transformation(
        item_id=item.item_id,
        name=name,
        by=by,
        new_id=made.item_id,
        type=made.type,
        general=made.general,
        specific=made.specific,
        answer=made.answer,
        proof="" if fault else proof,
        fault=fault or ("" if proof else f"{FOR_REVIEW}no rule proves the new gold"),
    )


def rewrite_faults(item: MultiItem, made: MultiItem, words: str, instead: str) -> list[str]:
    """List faults of a rewrite: not reversible, changes more than the stem, leaks the answer."""
    before, _, after = item.text.partition(words)
    undone = words not in made.text and made.text == before + instead + after
    found = {
        "undoing it does not restore the item": not undone or made.answer != item.answer,
        "it changes the options": _stem_and_options(item)[1] != _stem_and_options(made)[1],
        "it changes the images or blanks": _marks(item) != _marks(made),
        f"it leaks the answer: {instead:.40}": _leaks_answer(item, made, instead),
    }
    return [fault for fault, holds in found.items() if holds]


def _apply_request(item: MultiItem, request: Mapping[str, str], by: str) -> list[Transformation]:
    name = request["name"]
    if name in RULES:
        return _apply_rule(item, name, by) or [
            _refused_transformation(item, name, by, "it does not apply here")
        ]
    if name not in REWRITES:
        known = ", ".join((*RULES, *REWRITES))
        return [_refused_transformation(item, name, by, f"no such transformation; known: {known}")]
    words, instead = request.get("words", ""), request.get("instead", "")
    if not words or item.text.count(words) != 1:
        return [_refused_transformation(item, name, by, f"{words!r} does not occur exactly once")]
    general, specific = (part.replace(words, instead) for part in (item.general, item.specific))
    transformed = replace(item, general=general, specific=specific)
    faults = rewrite_faults(item, transformed, words, instead) + defects(transformed)
    return [
        make_transformation(item, transformed, name, by, _annotator_proof(by), "; ".join(faults))
    ]


def _apply_rule(item: MultiItem, name: str, by: str) -> list[Transformation]:
    rule = RULES[name]
    variants = rule.make(item)
    proof = variants and (_annotator_proof(by) or rule.proof(item))
    return [
        make_transformation(item, one, name, by, proof or "", "; ".join(_faults(rule, item, one)))
        for one in variants
    ]


def _faults(rule: _Rule, item: MultiItem, made: MultiItem) -> list[str]:
    undone = rule.undo(item, made)
    return ([] if undone else ["undoing it does not restore the item"]) + defects(made)


def _annotator_proof(by: str) -> str:
    return ANNOTATOR if by == ANNOTATOR else ""


def _outcome(row: Transformation) -> str:
    if row.fault:
        return "for review" if row.fault.startswith(FOR_REVIEW) else "faulty"
    if row.proof == ANNOTATOR:
        return "by annotators"
    return "agreed by solvers" if row.proof.startswith(_SOLVERS) else "proven by rule"


def _refused_transformation(item: MultiItem, name: str, by: str, fault: str) -> Transformation:
    return make_transformation(item, item, name, by, "", fault)


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
    old, new = (_normalize_text(_stem_and_options(one)[0]) for one in (item, made))
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
