"""The reader on real responses; bounds lie beside the values of docs/parser-measured.md."""

import pytest

from tests.core.reading import measured
from tests.core.reading.measured import accuracy, blink, differing, read, responses, share

JUDGE_ACCURACIES = {  # of the recorded judge: BLINK, Table 1, column "Validation"
    "GPT4V": 51.14,
    "GeminiProVision": 45.16,
    "instructblip_7b": 39.72,
    "llava-v1.6-34b": 46.80,
    "llava_v1.5_13b": 42.66,
    "llava_v1.5_7b": 37.13,
}


@pytest.fixture(scope="module")
def source_responses(shared_data):
    return list(map(read, responses(shared_data)))


@pytest.fixture(scope="module")
def blink_responses(shared_data):
    return list(map(read, blink(shared_data)))


def select(rows, kinds, source=""):
    """Rows of these kinds, of one source if it is named."""
    return [
        row for row in rows if row.sample["kind"] in kinds and source in ("", row.sample["src"])
    ]


def judge_letter(row):
    return row.sample["ref"]


def letter_of_both(row):
    """The letter of an explicit form; without one, the judge's."""
    return row.value if row.is_read and not row.named else judge_letter(row)


def test_most_choices_are_read_and_half_are_right(source_responses):
    rows = select(source_responses, ("choice", "choices"))
    assert share(row.is_read for row in rows) >= 91
    assert share(row.is_right for row in rows) >= 50
    assert share(row.is_read and not row.named for row in rows) >= 89.5


@pytest.mark.parametrize(
    ("source", "max_percent"), [("mmlu-pro", 3), ("mathvista", 3.5), ("gaokao", 0.3)]
)
def test_few_choices_differ_from_those_that_the_source_reads(source_responses, source, max_percent):
    assert differing(select(source_responses, ("choice", "choices"), source)) <= max_percent


def test_most_numbers_are_read(source_responses):
    rows = select(source_responses, ("number",))
    assert share(row.is_read for row in rows) >= 85.5  # others end in no number
    of_others = [row for row in rows if row.sample["src"] != "mathvista"]
    assert share(row.is_read for row in of_others) >= 99.5


def test_solutions_of_gsm8k_are_right_where_the_authors_say_so(source_responses):
    rows = select(source_responses, ("number",), "gsm8k-openai")
    different = [row for row in rows if row.is_right != (row.sample["ref"] == "right")]
    assert [row.sample["id"] for row in different] == []


def test_explicit_letters_are_those_of_the_recorded_judge(blink_responses):
    assert differing(row for row in blink_responses if not row.named) <= 0.1


@pytest.mark.parametrize("model", JUDGE_ACCURACIES)
def test_explicit_forms_and_the_judge_are_as_good_as_the_judge_alone(blink_responses, model):
    rows = [row for row in blink_responses if row.sample["model"] == model]
    by_judge = accuracy(rows, judge_letter)
    assert round(by_judge, 2) == JUDGE_ACCURACIES[model]
    assert abs(accuracy(rows, letter_of_both) - by_judge) <= 0.3


@pytest.mark.long
def test_page_and_report_have_the_present_numbers(source_responses, blink_responses):
    rows = [*source_responses, *blink_responses]
    stored_lines = measured.PAGE.read_text(encoding="utf-8").splitlines()
    dateless = [
        line for line in measured.page(rows).splitlines() if not line.startswith("Measured on ")
    ]
    assert [line for line in dateless if line not in stored_lines] == []
    assert measured.report_table(rows) == measured.REPORT.read_text(encoding="utf-8")
