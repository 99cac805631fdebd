"""Reads what a person reads out of responses: ``hand_labels.txt``, which explains its own form."""

from pathlib import Path
from typing import NamedTuple


class HandLabel(NamedTuple):
    category: str
    question: str
    options: tuple[str, str]
    response: str
    named: str | None  # the possible answer that a person reads; None for neither


def read_hand_labels(name: str = "hand_labels.txt") -> list[HandLabel]:
    labels, category, question, options = [], "", "", ("", "")
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        mark, _, text = line.partition(" ")
        if mark == "==":
            category = text
        elif mark == "?":
            question, *possible = (part.strip() for part in text.split(" | "))
            options = (possible[0], possible[1])
        elif mark in ("1", "2", "-"):
            named = {"1": options[0], "2": options[1]}.get(mark)
            labels.append(HandLabel(category, question, options, text, named))
    return labels
