"""Short answers against references: values by hand, and examples of the papers."""

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
    ("response", "references", "similarity"), read_cases(__file__, "anls.jsonl")
)
def test_anls_is_the_share_of_letters_that_are_right_if_at_least_a_half(
    response, references, similarity
):
    assert anls(response, references) == pytest.approx(similarity)


@pytest.mark.parametrize(
    ("response", "reference", "points"), read_cases(__file__, "relaxed_numbers.jsonl")
)
def test_a_number_matches_up_to_five_per_cent_away(response, reference, points):
    assert relaxed_match(response, [reference]) == points


def test_a_number_does_not_match_a_reference_without_a_number():
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


def edit_distance(text, reference):
    """Levenshtein's distance, by the rows of its table."""
    previous_row = list(range(len(reference) + 1))
    for n_letters, letter in enumerate(text, 1):
        row = [n_letters]
        for column, reference_letter in enumerate(reference, 1):
            substitution = previous_row[column - 1] + (letter != reference_letter)
            row.append(min(substitution, previous_row[column] + 1, row[-1] + 1))
        previous_row = row
    return previous_row[-1]


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_word_errors_are_levenshteins_distance(text, reference):
    """Each letter stands for a word."""
    n_errors, n_words = word_errors(" ".join(text), [" ".join(reference)])
    assert (n_errors, n_words) == (edit_distance(text, reference), len(reference))


def test_anls_of_a_page_takes_little_time():
    page = "A man is standing in a room with a table. " * 120
    started = time.process_time()  # s of CPU: how busy the machine is does not matter
    # One letter of a sentence is another one, in each of 120 sentences; 5038 letters in all.
    assert anls(page.replace("man", "men"), [page]) == pytest.approx(1 - 120 / 5038, abs=1e-4)
    assert time.process_time() - started < 1  # a table of all pairs of letters takes 5 s


def test_anls_without_references_is_zero():
    assert anls("a", []) == 0.0
