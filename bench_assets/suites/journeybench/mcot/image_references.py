"""Image references of a question: the labels of Figure 5, in any spelling.

The release has 126 spellings of 10 labels, typing errors among them ("objectsl", "obsuced"), and
cells whose labels nothing separates ("... Cross-referencing with Hallucination").
"""

import re

HALLUCINATION = "hallucination"  # what the question refers to is not in the image

_LABEL_PATTERNS = {
    "irrelevant objects with unusual properties": re.compile(r"irrelevant", re.IGNORECASE),
    "relevant objects with unusual properties": re.compile(
        r"\brelevant|^(?!.*irrelevant).*unusual", re.IGNORECASE | re.DOTALL
    ),
    "occluded or obscured objects": re.compile(r"occl|obs[cu]", re.IGNORECASE),
    "distractors": re.compile(r"distract", re.IGNORECASE),
    HALLUCINATION: re.compile(r"hal+uc", re.IGNORECASE),
    "large number of objects": re.compile(r"large|number", re.IGNORECASE),
    "OCR": re.compile(r"\bocr\b|text", re.IGNORECASE),
    "external knowledge": re.compile(r"external|knowledge", re.IGNORECASE),
    "money value": re.compile(r"money|value", re.IGNORECASE),
    "common objects": re.compile(r"common", re.IGNORECASE),
}

_SEPARATOR = re.compile(r"[;,&/+\n]|\band\b", re.IGNORECASE)

LABELS = tuple(_LABEL_PATTERNS)
"""Every label."""


def labels_of(category: str) -> tuple[str, ...]:
    """Read the labels of a cell, whatever separates them; without duplicates and unknown ones.

    >>> labels_of("common object; OCR and hallucination; common objects;"), labels_of("obsuced")
    (('common objects', 'OCR', 'hallucination'), ('occluded or obscured objects',))
    """
    parts = _SEPARATOR.split(category)
    return tuple(dict.fromkeys(label for part in parts for label in _labels_in(part)))


def is_label(text: str) -> bool:
    """Whether a text is the name of a label and nothing else: an answer in the wrong column.

    >>> is_label("Common objects."), is_label("no common objects exist")
    (True, False)
    """
    return text.strip(" .").casefold() in {label.casefold() for label in LABELS}


def _labels_in(part: str) -> list[str]:
    """List the labels of a part in order of occurrence."""
    matches = {label: pattern.search(part) for label, pattern in _LABEL_PATTERNS.items()}
    positions = {label: match.start() for label, match in matches.items() if match}
    return sorted(positions, key=positions.__getitem__)
