import pytest

from bench_assets.core.answer_types.options import read_answer, read_options, split_options
from bench_assets.core.schema.errors import SettingsError, SourceError
from tests.cases import read_cases

COLOURS = ("red", "green", "blue")
POINTS = ("(2, 3)", "(1, 0)", "(0, 1)", "[2, 3]")


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        *read_cases(__file__, "option_cells.jsonl"),
        pytest.param([float("nan")], (), id="an empty cell among numbers"),
    ],
)
def test_options_are_read_from_the_cells_of_a_row(cells, options):
    assert read_options(cells).texts == tuple(options)


@pytest.mark.parametrize(
    ("cell", "expected_message"),
    [
        pytest.param(["red"], "expected at least 2", id="one alone"),
        pytest.param([str(n) for n in range(27)], "27 options; at most 26", id="too many to read"),
        pytest.param("{['red', 'green']}", "expected a list", id="a set of lists, which cannot be"),
        pytest.param("red, green", "expected a list", id="a text that is no list"),
        pytest.param([["red"], ["green"]], "is not a text or a number", id="lists of lists"),
    ],
)
def test_a_cell_that_has_no_options_is_refused(cell, expected_message):
    with pytest.raises(SourceError, match=expected_message):
        read_options([cell])


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param({"A": None, "B": "red", "C": "green"}, id="an object whose A is empty"),
        pytest.param({"A": "red", "C": "green"}, id="an object without B"),
        pytest.param({"text": ["red", "blue"], "label": ["1", "3"]}, id="labels 1 and 3"),
        pytest.param({"text": ["red", "blue"], "label": None}, id="no labels"),
        pytest.param({"1": "red", "10": "green", "2": "blue"}, id="an object without 3"),
        pytest.param("{0: 'red', 1: 'green'}", id="an object of indices, as Python prints it"),
    ],
)
def test_options_whose_names_have_a_gap_are_refused(cell):
    with pytest.raises(SourceError, match=r"expected the names A, B, C, \.\.\."):
        read_options([cell])


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param({"label": ["A", "B"], "text": ["red", "green", "blue"]}, id="a text more"),
        pytest.param({"label": ["A", "B", "C"], "text": ["red", "green"]}, id="a label more"),
        pytest.param({"label": ["A", "A"], "text": ["red", "green"]}, id="one label twice"),
        pytest.param([{"label": "A", "text": "red"}, "green"], id="a text without a label"),
    ],
)
def test_labels_that_do_not_fit_the_texts_are_refused(cell):
    with pytest.raises(SourceError, match="expected a text for each of different labels"):
        read_options([cell])


@pytest.mark.parametrize(
    ("value", "options", "answers", "kind", "answer"), read_cases(__file__, "read_answers.jsonl")
)
def test_an_answer_is_read(value, options, answers, kind, answer):
    key = read_answer(value, tuple(options), answers)
    assert (key.kind, key.answer) == (kind, tuple(answer))


@pytest.mark.parametrize("value", ["2", "２"], ids=["ASCII", "full width"])
def test_a_number_that_is_an_index_and_a_text_is_ambiguous_without_settings(value):
    with pytest.raises(SourceError, match=r'ambiguous in .*: set answers = "indices" or "texts"'):
        read_answer(value, ("2", "4", "6"))


def test_a_list_of_0_and_1_for_two_options_is_ambiguous_without_settings():
    with pytest.raises(SourceError, match=r'ambiguous in .*: set answers = "indices" or "marks"'):
        read_answer([0, 1], ("both", "second"))


@pytest.mark.parametrize(
    ("cell", "answers"),
    [
        pytest.param(["(A) cat", "(C) cow", "(B) dog"], "letters", id="letters out of order"),
        pytest.param(["(A) cat", "(B) dog", "(C) cow"], "", id="letters in order"),
        pytest.param({"1": "cat", "2": "dog"}, "indices from 1", id="an object of numbers"),
    ],
)
def test_the_form_of_the_options_tells_the_form_of_the_key(cell, answers):
    assert read_options([cell]).answers == answers


@pytest.mark.parametrize(
    ("value", "answers", "expected_message"),
    read_cases(__file__, "no_answers.jsonl"),
)
def test_an_answer_that_is_no_option_is_refused(value, answers, expected_message):
    with pytest.raises(SourceError, match=expected_message):
        read_answer(value, COLOURS, answers)


def test_an_index_that_fits_only_from_1_needs_a_setting():
    with pytest.raises(SettingsError, match='set answers = "indices from 1", else "indices"'):
        read_answer(3, COLOURS)


def test_thirteen_options_have_letters_up_to_m():
    options = read_options([[f"{n} kg" for n in range(13)]]).texts
    assert read_answer("M", options).answer == ("M",)
    assert read_answer("8 kg", options).answer == ("I",)


@pytest.mark.parametrize(
    ("text", "remaining_text", "options"),
    read_cases(__file__, "split_options.jsonl", tuples=True),
)
def test_options_are_split_from_the_text_of_a_question(text, remaining_text, options):
    assert split_options(text) == (remaining_text, options)
