"""How a question refers to its picture: the labels of Figure 5, in whatever spelling they come.

The release has 126 spellings of 10 labels, typing errors among them ("objectsl", "obsuced").
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

HALLUCINATION = "hallucination"  # what the question refers to is not in the picture

_FORMS = {
    "irrelevant objects with unusual properties": r"irrelevant",
    "relevant objects with unusual properties": r"relevant|unusual",
    "occluded or obscured objects": r"occl|obs[cu]",
    "distractors": r"distract",
    HALLUCINATION: r"hal+uc",
    "large number of objects": r"large|number",
    "OCR": r"\bocr\b|text",
    "external knowledge": r"external|knowledge",
    "money value": r"money|value",
    "common objects": r"common",
}

LABELS = tuple(_FORMS)
"""Every label; of two that fit a spelling, the one that stands first is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """One spelling of a label in the source."""

    spelling: str
    label: str  # "" if it could not be told which label is meant
    n_rows: int


def label_of(spelling: str) -> str | None:
    """Tell which label a spelling means; None if it cannot be told.

    >>> label_of("Obsuced objectsl"), label_of("?")
    ('occluded or obscured objects', None)
    """
    text = spelling.casefold()
    return next((label for label, form in _FORMS.items() if re.search(form, text)), None)


def labels_of(category: str) -> tuple[str, ...]:
    """Read the labels of a cell, which are joined with ";"; each once, unknown ones left out.

    >>> labels_of("common object; OCR; common objects;")
    ('common objects', 'OCR')
    """
    known = [label for part in _parts(category) if (label := label_of(part))]
    return tuple(dict.fromkeys(known))


def spellings(categories: Iterable[str]) -> list[Spelling]:
    """Count every spelling and say which label it was taken for, the unknown ones first."""
    counts = Counter(part for category in categories for part in _parts(category))
    rows = [
        Spelling(spelling=spelling, label=label_of(spelling) or "", n_rows=n)
        for spelling, n in counts.items()
    ]
    return sorted(rows, key=lambda row: (bool(row.label), row.label, -row.n_rows, row.spelling))


def _parts(category: str) -> list[str]:
    return [part for part in map(str.strip, category.split(";")) if part]
