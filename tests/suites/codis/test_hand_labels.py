"""The rules beside what a person reads; the README prints these counts."""

from collections import Counter
from pathlib import Path

import pytest

from bench_assets.suites import codis
from bench_assets.suites.codis.parsing.answers import named_option
from bench_assets.suites.codis.votes import CATEGORIES
from tests.suites.codis.hand_labels import read_hand_labels

TABLES = ("hand_labels.txt", "hand_labels_held_out.txt")
README = Path(codis.__file__).with_name("README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", TABLES)
def test_the_rules_invent_no_answer(table):
    invented = [
        (label.question, label.response, found)
        for label in read_hand_labels(table)
        for found in [named_option(label.question, label.response, label.options)]
        if found not in (None, label.named)
    ]
    assert invented == []


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_agreement_with_a_person_is_what_the_readme_says(category):
    agreed, asked = Counter(), Counter()
    for table in TABLES:
        for label in read_hand_labels(table):
            if label.category == category:
                found = named_option(label.question, label.response, label.options)
                asked[table] += 1
                agreed[table] += found == label.named
    cells = " | ".join(f"{agreed[table]} of {asked[table]}" for table in TABLES)
    assert f"| {category} | {cells} |" in README


def test_every_category_has_answers_and_responses_that_are_none():
    for category in CATEGORIES:
        labels = [label for label in read_hand_labels() if label.category == category]
        assert len(labels) >= 70
        assert sum(label.named is None for label in labels) >= 20
