"""How a question refers to its image: the labels of Figure 5, in whatever spelling they come.

The release has 126 spellings of 10 labels, typing errors among them ("objectsl", "obsuced").
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

HALLUCINATION = "hallucination"  # what the question refers to is not in the image

_FORMS = {
    "irrelevant objects with unusual properties": re.compile(r"irrelevant", re.IGNORECASE),
    "relevant objects with unusual properties": re.compile(r"relevant|unusual", re.IGNORECASE),
    "occluded or obscured objects": re.compile(r"occl|obs[cu]", re.IGNORECASE),
    "distractors": re.compile(r"distract", re.IGNORECASE),
    HALLUCINATION: re.compile(r"hal+uc", re.IGNORECASE),
    "large number of objects": re.compile(r"large|number", re.IGNORECASE),
    "OCR": re.compile(r"\bocr\b|text", re.IGNORECASE),
    "external knowledge": re.compile(r"external|knowledge", re.IGNORECASE),
    "money value": re.compile(r"money|value", re.IGNORECASE),
    "common objects": re.compile(r"common", re.IGNORECASE),
}

_JOINED = re.compile(r"[;,&/+\n]|\band\b", re.IGNORECASE)

LABELS = tuple(_FORMS)
"""Every label; of two that fit a spelling, the one that stands first is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSpelling:
    """One spelling of a label in the source."""

    spelling: str
    label: str  # "" if it could not be told which label is meant
    n_rows: int


def label_of(spelling: str) -> str | None:
    """Tell which label a spelling means; None if it cannot be told.

    >>> label_of("Obsuced objectsl"), label_of("?")
    ('occluded or obscured objects', None)
    """
    return next((label for label, form in _FORMS.items() if form.search(spelling)), None)


def labels_of(category: str) -> tuple[str, ...]:
    """Read the labels of a cell, however they are joined; each once, unknown ones left out.

    >>> labels_of("common object; OCR and hallucination; common objects;")
    ('common objects', 'OCR', 'hallucination')
    """
    known = [label for part in _parts(category) if (label := label_of(part))]
    return tuple(dict.fromkeys(known))


def spellings(categories: Iterable[str]) -> list[LabelSpelling]:
    """Count every spelling and say which label it was taken for, the unknown ones first."""
    counts = Counter(part for category in categories for part in _parts(category))
    rows = [
        LabelSpelling(spelling=spelling, label=label_of(spelling) or "", n_rows=n)
        for spelling, n in counts.items()
    ]
    return sorted(rows, key=lambda row: (bool(row.label), row.label, -row.n_rows, row.spelling))


def is_label(text: str) -> bool:
    """Whether a text is the name of a label and nothing else: an answer in the wrong column.

    >>> is_label("Common objects."), is_label("no common objects exist")
    (True, False)
    """
    bare = text.strip(" .").casefold()
    return bare in {name.casefold() for name in LABELS}


def _parts(category: str) -> list[str]:
    return [part for part in map(str.strip, _JOINED.split(category)) if part]
