"""Short answers against references: values by pencil, and by the examples of the papers."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_assets.core.metrics.short_answers import (
    anls,
    exact_match,
    relaxed_match,
    vqa_accuracy,
    word_errors,
)
from tests.cases import read_cases


@pytest.mark.parametrize(
    ("response", "references", "points"), read_cases(__file__, "exact_matches.jsonl")
)
def test_a_text_is_right_if_it_is_a_reference(response, references, points):
    assert exact_match(response, references) == points


@pytest.mark.parametrize(
    ("response", "references", "similarity"),
    read_cases(__file__, "anls.jsonl"),
)
def test_anls_is_the_share_of_letters_that_are_right_if_at_least_a_half(
    response, references, similarity
):
    assert anls(response, references) == pytest.approx(similarity)


@pytest.mark.parametrize(
    ("response", "reference", "points"),
    read_cases(__file__, "relaxed_numbers.jsonl"),
)
def test_a_number_may_be_five_per_cent_away(response, reference, points):
    assert relaxed_match(response, [reference]) == points


def test_a_number_is_not_near_what_is_none():
    assert relaxed_match("5", ["many"]) == 0.0


@pytest.mark.parametrize("metric", [exact_match, anls, relaxed_match, vqa_accuracy])
@pytest.mark.parametrize(
    ("response", "reference", "points"),
    [
        pytest.param("", "?", 0.0, id="nothing is no question mark"),
        pytest.param("?", "?", 1.0, id="a question mark"),
        pytest.param("!", "?", 0.0, id="another mark"),
        pytest.param("", "*", 0.0, id="nothing is no asterisk"),
        pytest.param("*", "*", 1.0, id="an asterisk"),
        pytest.param("", "A", 0.0, id="nothing is no letter that is an article too"),
        pytest.param("a", "A", 1.0, id="such a letter"),
    ],
)
def test_an_empty_response_is_not_a_reference_of_one_sign(metric, response, reference, points):
    assert metric(response, [reference]) == points


def table_of_edits(one, other):
    """Levenshtein's table, cell by cell."""
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        here = [row]
        for column, wanted in enumerate(other, 1):
            step = above[column - 1] + (letter != wanted)
            here.append(min(step, above[column] + 1, here[-1] + 1))
        above = here
    return above[-1]


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_word_errors_are_those_of_levenshteins_table(one, other):
    errors, words = word_errors(" ".join(one), [" ".join(other)])
    assert (errors, words) == (table_of_edits(one, other), len(other))


def test_a_page_is_compared_with_a_page_in_little_time():
    page = "A man is standing in a room with a table. " * 120
    started = time.process_time()  # s of CPU: how busy the machine is does not matter
    # One letter of 43 is another one, in each of 120 sentences.
    assert anls(page.replace("man", "men"), [page]) == pytest.approx(1 - 120 / 5038, abs=1e-4)
    assert time.process_time() - started < 1  # a table of all pairs of letters takes 5 s


def test_without_references_nothing_is_like_them():
    assert anls("a", []) == 0.0
