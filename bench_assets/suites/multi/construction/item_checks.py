"""Automatic checks of built items: defects and near-duplicates (section 3.2)."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from string import ascii_uppercase

from bench_assets.core.images.near_duplicates import hash_distance, similar_texts
from bench_assets.suites.multi.construction.formulas import is_broken
from bench_assets.suites.multi.construction.markup import leftover_tags
from bench_assets.suites.multi.dataset.questions import (
    gold_blanks,
    image_numbers,
    split_options,
    stem_and_options,
)
from bench_assets.suites.multi.dataset.source import MultiItem
from bench_assets.suites.multi.prompts import IMAGE_TOKEN

MASK = "[MASK]"  # place of an answer in a text
MIN_OPTIONS = 2  # options of a choice question, at least (Table 10)
MAX_OPTIONS = 13  # options of a choice question, at most (Table 10)
_DISTANCE = 6  # bits of 64 in which perceptual hashes of near-duplicates may differ


def defects(item: MultiItem) -> list[str]:
    """List the defects of an item's form, content and answer; [] for a sound item."""
    found = _common_defects(item)
    if item.type in ("SA", "MA"):
        found += _choice_defects(item)
    elif item.type == "FB":
        found += _blank_defects(item)
    return found


def _common_defects(item: MultiItem) -> list[str]:
    """List the defects that an item of any type can have."""
    tags = leftover_tags(item.text + item.answer)
    absent = [str(n) for n in image_numbers(item.text) if not 0 < n <= len(item.images)]
    checks = {
        "its tags are nested too deeply to convert it to Markdown": item.format != "markdown",
        f"HTML is left: {' '.join(dict.fromkeys(tags))}": bool(tags),
        "a formula is broken": is_broken(item.text) or is_broken(item.answer),
        f"characters were lost in its preparation: {item.lost}": bool(item.lost),
        "it contains the replacement character U+FFFD": "\ufffd" in item.text + item.answer,
        "the text is empty": not item.text.strip(),
        "the answer is empty": not item.answer.strip() and item.type != "Other",
        f"it refers to image {', '.join(absent)} of {len(item.images)}": bool(absent),
        f"there is no {MASK}": item.type in ("SA", "MA", "FB") and MASK not in item.text,
    }
    return [defect for defect, is_present in checks.items() if is_present]


def _choice_defects(item: MultiItem) -> list[str]:
    _, options = split_options(item.text)
    offered, n_letters = ascii_uppercase[: len(options)], len(item.answer)
    checks = {
        f"{len(options)} options, expected {MIN_OPTIONS} to {MAX_OPTIONS}": (
            not MIN_OPTIONS <= len(options) <= MAX_OPTIONS
        ),
        "an option is empty": not all(options),
        "two options are equal": len(set(options)) < len(options),
        f"the answer {item.answer!r} is not among {offered}": not set(item.answer) <= set(offered),
        f"the answer {item.answer!r} names an option twice": len(set(item.answer)) < n_letters,
        f"{n_letters} answers, expected one": item.type == "SA" and n_letters != 1,
        f"{n_letters} answers, expected several": item.type == "MA" and n_letters <= 1,
    }
    return [defect for defect, is_present in checks.items() if is_present]


def _blank_defects(item: MultiItem) -> list[str]:
    n_blanks, n_answers = item.text.count(MASK), len(gold_blanks(item.answer))
    return [] if n_blanks == n_answers else [f"{n_blanks} blanks and {n_answers} answers"]


# Differences that make another question of similar words: numbers, signs, negations, extremes.
_DECISIVE_TOKENS = re.compile(
    r"\d+(?:\.\d+)?|[-+−<>≤≥=√]|错误|可能|一定|最[大小高低多少长短]|[不没非未无否除仅只均各每半倍]|"
    r"[上下左右前后先内外正反负同异已东南西北增减]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """Two similar items; with a conflict of text or gold neither is dropped."""

    item_id: str
    earlier: str
    similarity: float  # of their texts, [0, 1]
    distance: int  # largest between their images, in bits of 64; 0 without images
    conflict: str = ""  # the difference that keeps both; "" without one
    dropped: bool = False  # whether the item is


def find_duplicates(
    items: Sequence[MultiItem], hashes: Mapping[str, str], similarity: float = 0.8
) -> list[Duplicate]:
    """Find pairs alike in text and in every image, except within a problem.

    Args:
        items: In order; only the later one of a pair may be dropped.
        hashes: Perceptual hash of each image by name.
        similarity: Least Jaccard similarity of the texts' shingles of three characters; ours.
    """
    by_id = {item.item_id: item for item in items}
    texts = {item_id: IMAGE_TOKEN.sub("", item.text) for item_id, item in by_id.items()}
    pairs_by_item: dict[str, list[Duplicate]] = defaultdict(list)
    for twin in similar_texts(texts, similarity):
        later, earlier = by_id[twin.later], by_id[twin.earlier]
        distance = _image_distance(later, earlier, hashes)
        if later.problem_id == earlier.problem_id or distance is None or distance > _DISTANCE:
            continue
        pair = Duplicate(
            item_id=twin.later,
            earlier=twin.earlier,
            similarity=twin.similarity,
            distance=distance,
            conflict=_conflict(later, earlier),
        )
        pairs_by_item[twin.later].append(pair)
    dropped: set[str] = set()
    for item_id, pairs in pairs_by_item.items():
        # An item whose earlier twins are all dropped themselves stays.
        if any(not pair.conflict and pair.earlier not in dropped for pair in pairs):
            dropped.add(item_id)
    return [
        replace(pair, dropped=pair.item_id in dropped and not pair.conflict)
        for pairs in pairs_by_item.values()
        for pair in pairs
    ]


def _conflict(later: MultiItem, earlier: MultiItem) -> str:
    """Name a difference that may change the answer of two similar items; "" without one."""
    gold, other_gold = ", ".join(_gold(later)), ", ".join(_gold(earlier))
    if gold != other_gold:
        return f"the gold is {gold or later.answer!r:.60}, not {other_gold or earlier.answer!r:.60}"
    later_tokens, earlier_tokens = _decisive_tokens(later), _decisive_tokens(earlier)
    differing = (later_tokens - earlier_tokens) | (earlier_tokens - later_tokens)
    if differing:
        return f"only one of them has {', '.join(sorted(differing))}"
    return _wording_difference(later, earlier)


def _decisive_tokens(item: MultiItem) -> Counter[str]:
    return Counter(_DECISIVE_TOKENS.findall(_normalize_characters(item.text)))


def _wording_difference(later: MultiItem, earlier: MultiItem) -> str:
    """Name the first words of a stem that the other replaces, such as 冰 by 水 (ice by water).

    The same words in another order are a difference too; an inserted or missing character (a typing
    error, a full stop) is none.
    """
    earlier_words, later_words = _stem_words(earlier), _stem_words(later)
    if earlier_words != later_words and Counter(earlier_words) == Counter(later_words):
        return "the order of the words is another one in the other"
    matcher = SequenceMatcher(None, earlier_words, later_words, autojunk=False)
    for kind, start, end, later_start, later_end in matcher.get_opcodes():
        if kind == "replace":
            replacement = "".join(later_words[later_start:later_end])
            return f"{''.join(earlier_words[start:end])} is {replacement} in the other"
    return ""


def _stem_words(item: MultiItem) -> list[str]:
    """English words and Chinese characters of a stem."""
    stem, _ = stem_and_options(item)
    return re.findall(r"[a-z]+|\w", _normalize_characters(stem).lower())


def _gold(item: MultiItem) -> tuple[str, ...]:
    """Return the gold regardless of option order: texts of the right options, or the blanks."""
    if item.type in ("SA", "MA"):
        _, options = split_options(item.text)
        normalized = [_normalize_text(option) for option in options]
        if len(set(normalized)) < len(normalized):  # such as images, without tokens
            return tuple(sorted(item.answer))
        by_letter = dict(zip(ascii_uppercase, normalized, strict=False))
        return tuple(sorted(by_letter.get(letter, letter) for letter in item.answer))
    return tuple(map(_normalize_text, item.answer.splitlines()))


def _normalize_text(text: str) -> str:
    return re.sub(r"[\s。,;]", "", _normalize_characters(text)).rstrip(".")


def _normalize_characters(text: str) -> str:
    """Normalize by NFKC, with the hyphen as minus sign, and leave out image tokens."""
    return unicodedata.normalize("NFKC", IMAGE_TOKEN.sub("", text)).replace("\u2212", "-")


def _image_distance(later: MultiItem, earlier: MultiItem, hashes: Mapping[str, str]) -> int | None:
    """Largest distance between images in the same place; None if the counts differ."""
    later_images, earlier_images = _referenced_images(later), _referenced_images(earlier)
    if len(later_images) != len(earlier_images):
        return None
    distances = [
        hash_distance(hashes[later_image], hashes[earlier_image])
        for later_image, earlier_image in zip(later_images, earlier_images, strict=True)
    ]
    return max(distances, default=0)


def _referenced_images(item: MultiItem) -> list[str]:
    return [item.images[number - 1] for number in image_numbers(item.text)]
