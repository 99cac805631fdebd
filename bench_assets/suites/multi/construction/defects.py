"""What a rule finds wrong with an item of one's own edition (section 3.2, automatic checking)."""

import re
from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase

from bench_assets.suites.multi.construction.markup import leftover_tags
from bench_assets.suites.multi.dataset.questions import blanks_in, split_options
from bench_assets.suites.multi.dataset.source import MultiItem
from bench_assets.suites.multi.prompts import IMAGE_TOKEN

MASK = "[MASK]"
"""Where an answer belongs."""

FEWEST_OPTIONS, MOST_OPTIONS = 2, 13
"""Options of a question with choices (Table 10)."""

_EMPTY_FORMULA = re.compile(r"\$\s*\$|\\frac\{\s*\}|\\sqrt\{\s*\}|\{\s*\}\{\s*\}")


def defects(item: MultiItem) -> list[str]:
    """Find every defect of form, content and meaning that a rule can see."""
    return [*_of_format(item), *_of_content(item), *_CHECKS[item.type](item)]


def _of_format(item: MultiItem) -> list[str]:
    tags = leftover_tags(item.text + item.answer)
    found = {
        f"HTML is left: {' '.join(dict.fromkeys(tags))}": bool(tags),
        "a formula is broken": _is_broken(item.text) or _is_broken(item.answer),
        f"characters were lost in its preparation: {item.lost}": bool(item.lost),
        "a replacement character stands for a lost one": "\ufffd" in item.text + item.answer,
    }
    return [defect for defect, holds in found.items() if holds]


def _of_content(item: MultiItem) -> list[str]:
    shown = [int(match[1]) for match in IMAGE_TOKEN.finditer(item.text)]
    found = {
        "the text is empty": not item.text.strip(),
        "the answer is empty": not item.answer.strip() and item.type != "Other",
        f"it shows image {max(shown, default=0)} of {len(item.images)}": (
            max(shown, default=0) > len(item.images)
        ),
        f"there is no {MASK}": item.type in ("SA", "MA", "FB") and MASK not in item.text,
    }
    return [defect for defect, holds in found.items() if holds]


def _of_choice(item: MultiItem) -> list[str]:
    _, options = split_options(item.text)
    offered = ascii_uppercase[: len(options)]
    found = {
        f"{len(options)} options, expected {FEWEST_OPTIONS} to {MOST_OPTIONS}": (
            not FEWEST_OPTIONS <= len(options) <= MOST_OPTIONS
        ),
        "an option is empty": not all(options),
        "two options are equal": len(set(options)) < len(options),
        f"the answer {item.answer!r} is not among {offered}": not set(item.answer) <= set(offered),
        f"the answer {item.answer!r} names an option twice": len(set(item.answer))
        < len(item.answer),
    }
    return [defect for defect, holds in found.items() if holds]


def _of_single(item: MultiItem) -> list[str]:
    one = len(item.answer) == 1
    return _of_choice(item) + ([] if one else [f"{len(item.answer)} answers, expected one"])


def _of_multiple(item: MultiItem) -> list[str]:
    several = len(item.answer) > 1
    return _of_choice(item) + ([] if several else [f"{len(item.answer)} answers, expected several"])


def _of_blanks(item: MultiItem) -> list[str]:
    masks, lines = item.text.count(MASK), len(blanks_in(item.answer))
    return [] if masks == lines else [f"{masks} blanks and {lines} answers"]


_CHECKS: Mapping[str, Callable[[MultiItem], Sequence[str]]] = {
    "SA": _of_single,
    "MA": _of_multiple,
    "FB": _of_blanks,
    "OP": lambda _: [],
    "Other": lambda _: [],
}


def _is_broken(text: str) -> bool:
    plain = text.replace(r"\$", "")
    formulas = plain.split("$")[1::2]
    unbalanced = any(formula.count("{") != formula.count("}") for formula in formulas)
    return plain.count("$") % 2 == 1 or unbalanced or _EMPTY_FORMULA.search(plain) is not None
