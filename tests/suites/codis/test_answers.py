from collections import Counter
from pathlib import Path

import pytest

from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.suites import codis
from bench_assets.suites.codis.votes import CATEGORIES
from tests.suites.codis.hand_labels import read_hand_labels

LABELS = [
    label
    for table in ("hand_labels.txt", "hand_labels_held_out.txt")
    for label in read_hand_labels(table)
]


README = Path(codis.__file__).with_name("README.md").read_text(encoding="utf-8")


def read_by_rules(label):
    return AnswerForm("answers", label.options).read(label.response)


def test_what_is_stated_is_what_a_person_reads():
    misread = []
    for label in LABELS:
        reading = read_by_rules(label)
        if reading and not reading.named and reading.value != label.answer:
            misread.append((label.question, label.response, reading.value))
    assert misread == []


def agreement_row(category):
    """The README's row: all labels, then right and wrong readings, stated and only named."""
    labels = [label for label in LABELS if label.category == category]
    counts = Counter[tuple[bool, bool]]()
    for label in labels:
        if reading := read_by_rules(label):
            counts[reading.named, reading.value == label.answer] += 1
    stated = [counts[False, True], counts[False, False]]
    named = [counts[True, True], counts[True, False]]
    return f"| {category} | {' | '.join(map(str, [len(labels), *stated, *named]))} |"


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_readme_prints_the_agreement_with_a_person(category):
    assert agreement_row(category) in README


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_category_has_at_least_100_labels_and_30_without_an_answer(category):
    labels = [label for label in LABELS if label.category == category]
    assert len(labels) >= 100
    assert sum(label.answer is None for label in labels) >= 30
