"""The composed corpus: styles that rules are written on, and styles frozen before the rules."""

from hashlib import sha256
from pathlib import Path

import pytest

from tests.core.parsing.corpus.grammar import HERE, corpus, styles
from tests.core.parsing.corpus.table import HELD_OUT, REPORT, counts, ours, page, report_table

FROZEN = {
    "held_out": "7653807462598053",
    "held_out_today": "5d7f2c625002134b",
    "held_out_assistants": "a076247f0d2700b5",
    "held_out_abstaining": "12dc4267f1d3afd9",
}


@pytest.mark.parametrize("file", FROZEN)
def test_the_held_out_styles_are_those_that_were_frozen_before_the_rules(file):
    assert sha256((HERE / f"{file}.toml").read_bytes()).hexdigest()[:16] == FROZEN[file]


@pytest.mark.parametrize("file", FROZEN)
def test_no_style_is_both_written_on_and_held_out(file):
    written = {template for style in styles("written") for template in style.templates}
    held_out = {template for style in styles(file) for template in style.templates}
    assert len(written & held_out) < 0.07 * len(held_out)


def test_a_corpus_is_composed_the_same_each_time():
    assert corpus("held_out") == corpus("held_out")
    assert len(corpus("held_out")) > 1000


@pytest.mark.parametrize("file", [*FROZEN, "today"])
def test_few_responses_are_unread_and_hardly_any_is_misread(file):
    found = counts(corpus(file), ours).values()
    n = sum(count.n for count in found)
    assert sum(count.wrong for count in found) < 0.003 * n
    assert sum(count.unread for count in found) < 0.02 * n


def test_the_page_of_the_documentation_has_these_counts():
    text = (Path(__file__).parents[3] / "docs" / "parser.md").read_text("utf-8")
    assert page() in text


def test_the_table_of_the_report_has_the_counts_of_this_parser():
    assert REPORT.read_text("utf-8") == report_table(), (
        "run python -m tests.core.parsing.corpus.table report"
    )


def test_the_table_of_the_report_has_all_styles_that_were_held_out():
    assert set(HELD_OUT) == set(FROZEN)
