import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_assets.core.reading.choices import read_choice, read_choices, read_one_of
from bench_assets.core.reading.numbers import read_number
from tests.core.reading.examples import expected_value, read_example

CASES = [
    pytest.param(group | row, id=f"{group['group']}: {row['text']!r}")
    for group in tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))["case"]
    for row in group["rows"]
]


@pytest.mark.parametrize("case", CASES)
def test_a_response_is_read_as_its_case_states(case):
    reading = read_example(case)
    assert (reading and reading.value) == expected_value(case)
    assert (reading is not None and reading.named) == case.get("named", False)
    assert (reading is not None and reading.disputed) == case.get("disputed", False)


def test_the_evidence_is_the_text_that_was_read():
    response = "I see **two** lamps. So the **answer** is $(B)$, the right one."
    reading = read_choice(response, ("left", "right"))
    assert reading is not None
    start, end = reading.evidence
    assert response[start:end] == "(B)$, the right one"


def test_texts_are_read_without_letters():
    reading = read_one_of("choice", "He goes up. Answer: Up.", ("Up.", "Down."))
    assert reading is not None
    assert reading.value == "Up."
    assert read_one_of("choice", "The answer is A.", ("Up.", "Down.")) is None


@given(
    st.text(alphabet="ABCDEabc()[].,:\n *答案选是不the answer isnot", max_size=60),
    st.integers(1, 4),
)
def test_only_offered_letters_are_read(response, n_options):
    options = ["Point A", "Point B", "Point C", "Point D"][:n_options]
    offered_letters = {*"ABCD"[:n_options]}
    choice, choices = read_choice(response, options), read_choices(response, options)
    assert choice is None or choice.value in offered_letters
    assert choices is None or {*choices.value.split()} <= offered_letters


@given(st.text(max_size=80))
def test_the_evidence_of_any_text_lies_within_it(response):
    for reading in (read_choice(response, ("left", "right")), read_number(response)):
        if reading is not None:
            start, end = reading.evidence
            assert 0 <= start < end <= len(response)
