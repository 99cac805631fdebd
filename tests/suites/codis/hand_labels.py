"""Reader of responses that a person has labelled; ``hand_labels.txt`` explains its format."""

from pathlib import Path
from typing import NamedTuple


class HandLabel(NamedTuple):
    category: str
    question: str
    options: tuple[str, str]
    response: str
    answer: str | None  # the option that a person reads; None for neither


def read_hand_labels(name: str = "hand_labels.txt") -> list[HandLabel]:
    labels, category, question, options = [], "", "", ("", "")
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        mark, _, text = line.partition(" ")
        if mark == "==":
            category = text
        elif mark == "?":
            question, first, second = (cell.strip() for cell in text.split(" | "))
            options = (first, second)
        elif mark in ("1", "2", "-"):
            answer = {"1": options[0], "2": options[1]}.get(mark)
            labels.append(HandLabel(category, question, options, response=text, answer=answer))
    return labels
