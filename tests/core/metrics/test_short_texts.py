"""Short answers against references: values by pencil, and by the examples of the papers."""

import pytest

from bench_assets.core.metrics.short_answers import anls, exact_match, relaxed_match, vqa_accuracy


@pytest.mark.parametrize(
    ("response", "references", "points"),
    [
        pytest.param("Paris", ["Paris"], 1.0, id="the same text"),
        pytest.param(
            " **paris.** ", ["Paris"], 1.0, id="case, markup and a full stop do not count"
        ),
        pytest.param("The final answer is: Paris", ["Paris"], 1.0, id="an announced answer"),
        pytest.param("Paris", ["London", "Paris"], 1.0, id="one of several references"),
        pytest.param("It is Paris", ["Paris"], 0.0, id="a sentence is no exact match"),
        pytest.param("4.0", ["4"], 1.0, id="the same number in other digits"),
        pytest.param("1,200", ["1200"], 1.0, id="a number with its thousands set off"),
        pytest.param("−4 °C", ["-4 °C"], 1.0, id="a minus sign or a hyphen"),
        pytest.param("", ["Paris"], 0.0, id="nothing"),
        pytest.param("answer", ["Answer"], 1.0, id="an answer that is the word itself"),
    ],
)
def test_a_text_is_right_if_it_is_a_reference(response, references, points):
    assert exact_match(response, references) == points


@pytest.mark.parametrize(
    ("response", "references", "similarity"),
    [
        pytest.param("hello", ["hello"], 1.0, id="the same"),
        pytest.param("HELLO", ["hello"], 1.0, id="case does not count"),
        pytest.param("hallo", ["hello"], 4 / 5, id="one letter of five"),
        *(
            pytest.param(said, ["hello"], share, id=what)
            for said, share, what in [
                ("hellos", 5 / 6, "one letter too many behind"),
                ("xhello", 5 / 6, "before"),
                ("helxlo", 5 / 6, "and in the middle"),
                ("hell", 4 / 5, "the last letter left out"),
                ("ello", 4 / 5, "the first"),
                ("helo", 4 / 5, "and one in the middle"),
            ]
        ),
        pytest.param("kitten", ["sitting"], 4 / 7, id="three edits of seven letters"),
        pytest.param("abcd", ["abxy"], 0.5, id="a half wrong, which the script counts"),
        pytest.param("abc", ["axy"], 0.0, id="more than half wrong"),
        pytest.param("abcde", ["abcxy"], 3 / 5, id="less than a half wrong"),
        pytest.param("a" * 10, ["a" * 21], 0.0, id="less than half as long"),
        pytest.param("new yrok", ["york", "new york"], 6 / 8, id="the nearest reference"),
        pytest.param("", ["x"], 0.0, id="nothing"),
    ],
)
def test_anls_is_the_share_of_letters_that_are_right_if_at_least_a_half(
    response, references, similarity
):
    assert anls(response, references) == pytest.approx(similarity)


@pytest.mark.parametrize(
    ("response", "reference", "points"),
    [
        pytest.param("95", "100", 1.0, id="five per cent too little"),
        pytest.param("105", "100", 1.0, id="five per cent too much"),
        pytest.param("94.9", "100", 0.0, id="a little further away"),
        pytest.param("-95", "-100", 1.0, id="negative numbers"),
        pytest.param("0", "0", 1.0, id="nothing is exactly nothing"),
        pytest.param("0.01", "0", 0.0, id="five per cent of nothing is nothing"),
        pytest.param("12.4 %", "12.5%", 1.0, id="a per cent sign"),
        pytest.param("The bar shows about 41 units.", "42", 1.0, id="the number of a sentence"),
        pytest.param("Yes", "yes", 1.0, id="a word is compared as it is"),
        pytest.param("Norwey", "Norway", 0.0, id="a word has no tolerance"),
        pytest.param("no idea", "42", 0.0, id="no number"),
    ],
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


def test_without_references_nothing_is_like_them():
    assert anls("a", []) == 0.0
