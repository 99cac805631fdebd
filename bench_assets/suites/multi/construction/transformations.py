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
from bench_assets.core.gold.proposals import DecidedProposal, KeyForm, Proposal, same_value
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.multi.construction import question_transforms as rules
from bench_assets.suites.multi.construction.item_checks import MASK, defects
from bench_assets.suites.multi.construction.selection import uniform_draw
from bench_assets.suites.multi.dataset.questions import gold_blanks, stem_and_options
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
    r"改写[:：]\s*(?P<name>distill|deepen)\s*\n原文[:：][ ]*(?P<words>.+)\n"
    r"改为[:：][ ]*(?P<instead>.*)",
    re.ASCII,
)


def proposal_prompt(item: MultiItem) -> Prompt:
    """Prompt a model for words to replace and their replacement; the wording is ours."""
    return Prompt.of(_PROPOSAL_PROMPT.format(text=item.text))


def read_proposal(response: str) -> Mapping[str, str]:
    """Parse a model's proposal into a request of ``propose``; {} if it is not in the format."""
    match = _PROPOSED.search(response)
    if match is None:
        return {}
    return {name: text.strip() for name, text in match.groupdict().items()}


def propose(
    items: Iterable[MultiItem],
    requests: Mapping[str, Mapping[str, str]],
    share: float,
    seed: int,
    by: str = ANNOTATOR,
) -> list[Transformation]:
    """Propose the requested transformation of each item, or else that of the first rule that fits.

    Args:
        items: Annotated items.
        requests: Item -> ``name`` of a transformation, and for a rewrite ``words`` and ``instead``.
        share: Share of items for which the random rules, negation and removal of options, are tried
            ("we randomly modify", section 3.2), in [0, 1].
        seed: Seed of that share.
        by: Author of the requests.
    """
    rows = []
    for item in items:
        if request := requests.get(item.item_id):
            rows += _apply_request(item, request, by)
        else:
            rows += _apply_first_rule(item, [*_FIXED_RULES, *_draw_rules(item, share, seed)])
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
    """Propose the key of each sound transformation, as a candidate of its own."""
    by_id = {item.item_id: item for item in items}
    digests = {image.name: image.sha256 for image in images}
    return [[_proposal(row, by_id[row.item_id], digests)] for row in rows if not row.fault]


def mark_rejected_keys(
    rows: Iterable[Transformation], proposals: Iterable[DecidedProposal]
) -> list[Transformation]:
    """Mark transformations whose keys were not accepted with the reason as their fault."""
    reasons = {
        proposal.id: f"{proposal.decision}: {proposal.reason}"
        for proposal in proposals
        if proposal.decision != "accepted"
    }
    return [replace(row, fault=row.fault or reasons.get(row.proposal_id, "")) for row in rows]


def apply_transformations(
    items: Sequence[MultiItem], rows: Sequence[Transformation]
) -> list[MultiItem]:
    """Replace items by their transformations; an item with a faulty one stays as it is."""
    rows_by_item: dict[str, list[Transformation]] = {}
    for row in rows:
        rows_by_item.setdefault(row.item_id, []).append(row)
    transformed: list[MultiItem] = []
    for item in items:
        item_rows = rows_by_item.get(item.item_id, [])
        if item_rows and not any(row.fault for row in item_rows):
            transformed += [apply_transformation(item, row) for row in item_rows]
        else:
            transformed.append(item)
    return transformed


def rewrite_faults(
    item: MultiItem, rewritten: MultiItem, words: str, replacement: str
) -> list[str]:
    """List faults of a rewrite: not reversible, changes more than the stem, leaks the answer."""
    before, _, after = item.text.partition(words)
    is_reversible = (
        words not in rewritten.text
        and rewritten.text == before + replacement + after
        and rewritten.answer == item.answer
    )
    _, options = stem_and_options(item)
    _, rewritten_options = stem_and_options(rewritten)
    faults = {
        "undoing it does not restore the item": not is_reversible,
        "it changes the options": options != rewritten_options,
        "it changes the images or blanks": _marks(item) != _marks(rewritten),
        f"it leaks the answer: {replacement:.40}": _leaks_answer(item, rewritten, replacement),
    }
    return [fault for fault, is_present in faults.items() if is_present]


def _apply_request(item: MultiItem, request: Mapping[str, str], by: str) -> list[Transformation]:
    """Apply a requested transformation; one that cannot be applied gets a fault."""
    name = request["name"]
    if name in RULES:
        return _apply_rule(item, name, by) or [
            _transformation(item, item, name, by, fault="it does not apply here")
        ]
    if name not in REWRITES:
        fault = f"no such transformation; known: {', '.join((*RULES, *REWRITES))}"
        return [_transformation(item, item, name, by, fault=fault)]
    words, replacement = request.get("words", ""), request.get("instead", "")
    if not words or item.text.count(words) != 1:
        fault = f"{words!r} does not occur exactly once"
        return [_transformation(item, item, name, by, fault=fault)]
    rewritten = replace(
        item,
        general=item.general.replace(words, replacement),
        specific=item.specific.replace(words, replacement),
    )
    faults = rewrite_faults(item, rewritten, words, replacement) + defects(rewritten)
    return [_transformation(item, rewritten, name, by, fault="; ".join(faults))]


def _apply_first_rule(item: MultiItem, names: Iterable[str]) -> list[Transformation]:
    """Apply the first rule that has a result; [] if none has."""
    for name in names:
        if rows := _apply_rule(item, name, "rule"):
            return rows
    return []


def _apply_rule(item: MultiItem, name: str, by: str) -> list[Transformation]:
    """Apply a rule; several rows if it splits the item, [] if it does not apply."""
    variants = RULES[name](item)
    proof = rules.proof_of_elements(item) if variants and name == "choose_elements" else ""
    return [
        _transformation(item, variant, name, by, fault="; ".join(defects(variant)), proof=proof)
        for variant in variants
    ]


def _transformation(
    item: MultiItem, transformed: MultiItem, name: str, by: str, *, fault: str, proof: str = ""
) -> Transformation:
    return Transformation(
        item_id=item.item_id,
        name=name,
        by=by,
        new_id=transformed.item_id,
        type=transformed.type,
        general=transformed.general,
        specific=transformed.specific,
        answer=transformed.answer,
        proof=proof,
        fault=fault,
    )


_ANSWER_FORMS: Mapping[str, KeyForm] = {"SA": "letters", "MA": "letters", "FB": "blanks"}


def _proposal(row: Transformation, item: MultiItem, digests: Mapping[str, str]) -> Proposal:
    """Propose the key of a transformation; ``digests`` are those of the stored images by name."""
    return Proposal(
        id=row.proposal_id,
        question_id=row.proposal_id,
        construction=row.name,
        before=item.text,
        question=apply_transformation(item, row).text,
        images=tuple(digests[name] for name in item.images if name in digests),
        answer_form=_ANSWER_FORMS.get(row.type, "text"),
        key=row.answer,
        form="proven" if row.proof else "",
        why=row.proof,
        requested_by=row.by if row.by == ANNOTATOR else "",
    )


def _matches(line: str, key: str) -> bool:
    return same_value(line, key) or matches_gold(line, key)


def _draw_rules(item: MultiItem, share: float, seed: int) -> Sequence[str]:
    """Random rules to try, in a random order; () for items outside of the share."""
    if uniform_draw(seed, f"transform/{item.item_id}") >= share:
        return ()
    negation, blank = _RANDOM_RULES
    is_negation_first = uniform_draw(seed, f"which first/{item.item_id}") < 0.5
    return (negation, blank) if is_negation_first else (blank, negation)


def _marks(item: MultiItem) -> list[str]:
    """Blanks and image tokens, in order."""
    return _MARK.findall(item.text)


def _leaks_answer(item: MultiItem, rewritten: MultiItem, replacement: str) -> bool:
    """Whether the replacement adds a gold, or a part of one, to the stem, or names an option."""
    old_stem, new_stem = _normalized_stem(item), _normalized_stem(rewritten)
    golds = [gold for gold in map(_normalize_text, _golds(item)) if gold]
    added = _normalize_text(replacement)
    adds_gold = any(new_stem.count(gold) > old_stem.count(gold) for gold in golds)
    adds_part_of_gold = (
        len(added) > 1 and added not in old_stem and any(added in gold for gold in golds)
    )
    return adds_gold or adds_part_of_gold or _OPTION_LETTER.search(replacement) is not None


def _normalized_stem(item: MultiItem) -> str:
    stem, _ = stem_and_options(item)
    return _normalize_text(stem)


def _golds(item: MultiItem) -> list[str]:
    """Texts of the right options, or all alternatives of the blanks."""
    if item.type in ("SA", "MA"):
        _, options = stem_and_options(item)
        by_letter = dict(zip(ascii_uppercase, options, strict=False))
        return [by_letter.get(letter, "") for letter in item.answer]
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
