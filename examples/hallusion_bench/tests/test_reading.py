"""Whether a response says yes, no or neither."""

import pytest

from hallusion_bench.reading import yes_or_no


@pytest.mark.parametrize(
    ("response", "said"),
    [
        pytest.param("Yes", "yes", id="the word"),
        pytest.param("  **No.**", "no", id="in markup"),
        pytest.param("NO", "no", id="in capitals"),
        pytest.param("Yes, the two circles are of the same size.", "yes", id="and a sentence"),
        pytest.param("No the left one is larger.", "no", id="without a comma"),
        pytest.param("Answer: no", "no", id="after a label"),
        pytest.param("The answer is yes.", "yes", id="as a sentence"),
        pytest.param("Both are red. Therefore, no, they do not differ.", "no", id="concluded"),
        pytest.param("It reads 5. So yes, it is 5.", "yes", id="concluded without a comma"),
        pytest.param("Yes, it is. So, yes, they are equal.", "yes", id="said twice"),
        pytest.param("Yes, it is not clear from history, but it is so. ", "", id="doubted"),
        pytest.param("No, I cannot determine that from the image.", "", id="no as a refusal"),
        pytest.param("No, the text cannot be read as STOP.", "no", id="cannot, but not a doubt"),
        pytest.param("Yes, they look alike. So, no, they differ.", "", id="taken back"),
        pytest.param("Yes or no: hard to say.", "", id="both words"),
        pytest.param("No information is given.", "", id="no of something"),
        pytest.param("No-one is there.", "", id="a word with no in it"),
        pytest.param("Nothing; noon; eyes.", "", id="words that begin so"),
        pytest.param("The circles appear to be of the same size.", "", id="a statement alone"),
        pytest.param("I am not sure.", "", id="a doubt"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_a_response_says(response, said):
    assert yes_or_no(response) == said


@pytest.fixture(scope="module")
def responses(authors_data):
    """The authors' sample of responses by the word that each opens with."""
    said = [entry["model_prediction"] for entry in authors_data("HallusionBench_result_sample")]
    return [(response.split()[0].strip(",.").casefold(), response) for response in said]


def test_of_the_authors_own_responses_all_that_open_with_yes_or_no_are_read_so(responses):
    plain = [(word, response) for word, response in responses if word in ("yes", "no")]
    assert len(plain) == 199
    assert [response for word, response in plain if yes_or_no(response) != word] == []


def test_of_the_others_only_those_that_conclude_in_these_words_are_read(responses):
    """Read by a person: of the other 55 four say "so, yes" at last, and one "so, no"."""
    others = [yes_or_no(response) for word, response in responses if word not in ("yes", "no")]
    assert len(others) == 55
    assert sorted(filter(None, others)) == ["no", "yes", "yes", "yes", "yes"]
