"""The rules beside what a person reads; the README prints these counts."""

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


def read(label):
    return AnswerForm("answers", label.options).read(label.response)


README = Path(codis.__file__).with_name("README.md").read_text(encoding="utf-8")


def test_what_is_stated_is_what_a_person_reads():
    wrong = [
        (label.question, label.response, found.value)
        for label in LABELS
        for found in [read(label)]
        if found and not found.named and found.value != label.named
    ]
    assert wrong == []


def row(category):
    counts = Counter[object]()
    for label in LABELS:
        if label.category == category:
            found = read(label)
            counts["n"] += 1
            if found:
                counts[found.named, found.value == label.named] += 1
    cells = [counts[key] for key in ("n", *((n, r) for n in (False, True) for r in (True, False)))]
    return f"| {category} | {' | '.join(map(str, cells))} |"


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_agreement_with_a_person_is_what_the_readme_says(category):
    assert row(category) in README


def test_every_category_has_answers_and_responses_that_are_none():
    for category in CATEGORIES:
        labels = [label for label in LABELS if label.category == category]
        assert len(labels) >= 100
        assert sum(label.named is None for label in labels) >= 30
