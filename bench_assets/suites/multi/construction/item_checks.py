"""Automatic checks of built items: defects and near-duplicates (section 3.2)."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from string import ascii_uppercase

from bench_assets.core.images.near_duplicates import hash_distance, similar_texts
from bench_assets.suites.multi.construction.formulas import is_broken
from bench_assets.suites.multi.construction.markup import leftover_tags
from bench_assets.suites.multi.dataset.questions import gold_blanks, split_options
from bench_assets.suites.multi.dataset.source import MultiItem
from bench_assets.suites.multi.prompts import IMAGE_TOKEN

MASK = "[MASK]"
"""Place of an answer in a text."""

MIN_OPTIONS, MAX_OPTIONS = 2, 13
"""Number of options of a choice question (Table 10)."""

_DISTANCE = 6  # most bits, of 64, in which the perceptual hashes of near-duplicates differ


def defects(item: MultiItem) -> list[str]:
    """Find every defect of form, content and meaning that rules can detect."""
    return [*_format_defects(item), *_content_defects(item), *_CHECKS[item.type](item)]


def _format_defects(item: MultiItem) -> list[str]:
    tags = leftover_tags(item.text + item.answer)
    defects = {
        f"HTML is left: {' '.join(dict.fromkeys(tags))}": bool(tags),
        "a formula is broken": is_broken(item.text) or is_broken(item.answer),
        f"characters were lost in its preparation: {item.lost}": bool(item.lost),
        "it contains the replacement character U+FFFD": "\ufffd" in item.text + item.answer,
    }
    return [defect for defect, holds in defects.items() if holds]


def _content_defects(item: MultiItem) -> list[str]:
    referenced = (int(match[1]) for match in IMAGE_TOKEN.finditer(item.text))
    absent = next((n for n in referenced if not 0 < n <= len(item.images)), None)
    defects = {
        "the text is empty": not item.text.strip(),
        "the answer is empty": not item.answer.strip() and item.type != "Other",
        f"it refers to image {absent} of {len(item.images)}": absent is not None,
        f"there is no {MASK}": item.type in ("SA", "MA", "FB") and MASK not in item.text,
    }
    return [defect for defect, holds in defects.items() if holds]


def _choice_defects(item: MultiItem) -> list[str]:
    _, options = split_options(item.text)
    offered = ascii_uppercase[: len(options)]
    defects = {
        f"{len(options)} options, expected {MIN_OPTIONS} to {MAX_OPTIONS}": (
            not MIN_OPTIONS <= len(options) <= MAX_OPTIONS
        ),
        "an option is empty": not all(options),
        "two options are equal": len(set(options)) < len(options),
        f"the answer {item.answer!r} is not among {offered}": not set(item.answer) <= set(offered),
        f"the answer {item.answer!r} names an option twice": len(set(item.answer))
        < len(item.answer),
    }
    return [defect for defect, holds in defects.items() if holds]


def _single_choice_defects(item: MultiItem) -> list[str]:
    is_single = len(item.answer) == 1
    return _choice_defects(item) + (
        [] if is_single else [f"{len(item.answer)} answers, expected one"]
    )


def _multiple_choice_defects(item: MultiItem) -> list[str]:
    several = len(item.answer) > 1
    return _choice_defects(item) + (
        [] if several else [f"{len(item.answer)} answers, expected several"]
    )


def _blank_defects(item: MultiItem) -> list[str]:
    masks, lines = item.text.count(MASK), len(gold_blanks(item.answer))
    return [] if masks == lines else [f"{masks} blanks and {lines} answers"]


_CHECKS: Mapping[str, Callable[[MultiItem], Sequence[str]]] = {
    "SA": _single_choice_defects,
    "MA": _multiple_choice_defects,
    "FB": _blank_defects,
    "OP": lambda _: [],
    "Other": lambda _: [],
}


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
    conflict: str = ""  # why both are kept although they look alike; "" if they are not
    dropped: bool


def find_duplicates(
    items: Sequence[MultiItem], hashes: Mapping[str, str], similarity: float = 0.8
) -> list[Duplicate]:
    """Find pairs alike in text and in every image, except within a problem.

    Args:
        items: In order; the later one of a pair is the duplicate.
        hashes: Perceptual hash of each image by name.
        similarity: Least Jaccard similarity of the texts' shingles of three characters; ours.
    """
    by_id = {item.item_id: item for item in items}
    texts = {name: IMAGE_TOKEN.sub("", item.text) for name, item in by_id.items()}
    pairs: dict[str, list[Duplicate]] = defaultdict(list)
    for twin in similar_texts(texts, similarity):
        later, earlier = by_id[twin.later], by_id[twin.earlier]
        image_distance = _image_distance(later, earlier, hashes)
        if (
            later.problem_id != earlier.problem_id
            and image_distance is not None
            and image_distance <= _DISTANCE
        ):
            pairs[twin.later].append(
                Duplicate(
                    item_id=twin.later,
                    earlier=twin.earlier,
                    similarity=twin.similarity,
                    distance=image_distance,
                    conflict=_conflict(later, earlier),
                    dropped=False,
                )
            )
    dropped: set[str] = set()
    for name, pairs_of_item in pairs.items():
        if any(not pair.conflict and pair.earlier not in dropped for pair in pairs_of_item):
            dropped.add(name)
    return [
        replace(pair, dropped=pair.item_id in dropped and not pair.conflict)
        for pairs_of_item in pairs.values()
        for pair in pairs_of_item
    ]


def _conflict(later: MultiItem, earlier: MultiItem) -> str:
    """Name a difference that may change the answer of two similar items; "" without one."""
    if _gold(later) != _gold(earlier):
        return f"the gold is {later.answer!r:.60}, not {earlier.answer!r:.60}"
    later_tokens, earlier_tokens = (
        _DECISIVE_TOKENS.findall(_half_width(item.text)) for item in (later, earlier)
    )
    if Counter(later_tokens) != Counter(earlier_tokens):
        differing = (Counter(later_tokens) - Counter(earlier_tokens)) | (
            Counter(earlier_tokens) - Counter(later_tokens)
        )
        return f"only one of them has {', '.join(sorted(differing))}"
    return next((f"{a} is {b} in the other" for a, b in _replacements(earlier, later)), "")


def _replacements(earlier: MultiItem, later: MultiItem) -> Iterator[tuple[str, str]]:
    """Yield words of one stem that the other replaces, such as 冰 and 水 (ice and water).

    The same words in another order count too; an inserted or missing character (a typing error, a
    full stop) does not.
    """
    earlier_words, later_words = (
        re.findall(r"[a-z]+|\w", _half_width(_stem(i)).lower()) for i in (earlier, later)
    )
    if earlier_words != later_words and Counter(earlier_words) == Counter(later_words):
        yield "the order of the words", "another one"
    for kind, start, end, other_start, other_end in SequenceMatcher(
        None, earlier_words, later_words, autojunk=False
    ).get_opcodes():
        if kind == "replace":
            yield "".join(earlier_words[start:end]), "".join(later_words[other_start:other_end])


def _stem(item: MultiItem) -> str:
    return split_options(item.text)[0] if item.type in ("SA", "MA") else item.text


def _gold(item: MultiItem) -> tuple[str, ...]:
    """Return the gold regardless of option order: texts of the right options, or the blanks."""
    if item.type in ("SA", "MA"):
        options = [_normalize_text(option) for option in split_options(item.text)[1]]
        by_letter = dict(zip(ascii_uppercase, options, strict=False))
        are_distinct = len(set(options)) == len(options)  # not if they are images
        return tuple(
            sorted(
                by_letter.get(letter, letter) if are_distinct else letter for letter in item.answer
            )
        )
    return tuple(map(_normalize_text, item.answer.splitlines()))


def _normalize_text(text: str) -> str:
    return re.sub(r"[\s。,;]", "", _half_width(text)).rstrip(".")


def _half_width(text: str) -> str:
    return unicodedata.normalize("NFKC", IMAGE_TOKEN.sub("", text)).replace("\u2212", "-")


def _image_distance(one: MultiItem, other: MultiItem, hashes: Mapping[str, str]) -> int | None:
    """Largest distance between images in the same place; None if the counts differ."""
    image_hashes = [[hashes[name] for name in _referenced_images(item)] for item in (one, other)]
    if len(image_hashes[0]) != len(image_hashes[1]):
        return None
    return max((hash_distance(a, b) for a, b in zip(*image_hashes, strict=True)), default=0)


def _referenced_images(item: MultiItem) -> list[str]:
    return [item.images[int(match[1]) - 1] for match in IMAGE_TOKEN.finditer(item.text)]
