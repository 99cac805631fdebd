"""Shares that are read, and read as the sources read them, on real responses."""

import pytest

from tests.core.reading import measured
from tests.core.reading.measured import accuracy, blink, differing, read, responses, share

JUDGED_ALONE = {  # the recorded judge's accuracies: Table 1, column "Validation"
    "GPT4V": 51.14,
    "GeminiProVision": 45.16,
    "instructblip_7b": 39.72,
    "llava-v1.6-34b": 46.80,
    "llava_v1.5_13b": 42.66,
    "llava_v1.5_7b": 37.13,
}
READERS_BEFORE = {  # accuracies of the readers that were replaced, without a judge
    "GPT4V": 50.57,
    "GeminiProVision": 45.16,
    "instructblip_7b": 39.72,
    "llava-v1.6-34b": 46.80,
    "llava_v1.5_13b": 42.58,
    "llava_v1.5_7b": 37.09,
}


@pytest.fixture(scope="module")
def shared(shared_data):
    return list(map(read, responses(shared_data)))


@pytest.fixture(scope="module")
def released(shared_data):
    return list(map(read, blink(shared_data)))


def of(rows, *kinds, source=""):
    return [row for row in rows if row.row["kind"] in kinds and source in ("", row.row["src"])]


def test_choices_are_read(shared):
    rows = of(shared, "choice", "choices")
    assert share(row.is_read for row in rows) >= 91
    assert share(row.is_right for row in rows) >= 50
    assert share(row.is_read and not row.named for row in rows) >= 89.5


@pytest.mark.parametrize(("source", "most"), [("mmlu-pro", 3), ("mathvista", 3.5), ("gaokao", 0.3)])
def test_choices_are_those_that_the_source_reads(shared, source, most):
    assert differing(of(shared, "choice", "choices", source=source)) <= most


def test_numbers_are_read(shared):
    rows = of(shared, "number")
    assert share(row.is_read for row in rows) >= 89
    elsewhere = [row for row in rows if row.row["src"] != "mathvista"]
    assert share(row.is_read for row in elsewhere) >= 99.5


def test_solutions_of_gsm8k_have_the_authors_marks(shared):
    rows = of(shared, "number", source="gsm8k-openai")
    assert [row.row["id"] for row in rows if row.is_right != (row.row["ref"] == "right")] == []


def test_explicit_letters_are_the_recorded_judges(released):
    assert differing(row for row in released if not row.named) <= 0.1


@pytest.mark.parametrize("model", JUDGED_ALONE)
def test_explicit_forms_and_the_judge_are_as_good_as_the_judge_alone(released, model):
    rows = [row for row in released if row.row["model"] == model]
    judged = accuracy(rows, lambda row: row.row["ref"])
    together = accuracy(
        rows, lambda row: row.row["ref"] if row.named or not row.is_read else row.value
    )
    rules = accuracy(rows, lambda row: row.value)
    assert round(judged, 2) == JUDGED_ALONE[model]
    assert abs(together - judged) <= 0.3
    assert abs(rules - READERS_BEFORE[model]) <= 3.2


def test_rules_alone_are_as_good_as_the_readers_before(released):
    models = {row.row["model"] for row in released}
    assert models == set(READERS_BEFORE)
    rules = [
        accuracy([row for row in released if row.row["model"] == model], lambda row: row.value)
        for model in sorted(models)
    ]
    before = [READERS_BEFORE[model] for model in sorted(models)]
    assert abs(sum(rules) - sum(before)) / len(models) <= 1


@pytest.mark.long
def test_page_and_report_have_these_numbers(shared, released):
    rows = [*shared, *released]
    lines = measured.PAGE.read_text(encoding="utf-8").splitlines()
    now = measured.page(rows).splitlines()
    assert [line for line in now if ", responses of real" not in line and line not in lines] == []
    assert measured.report_table(rows) == measured.REPORT.read_text(encoding="utf-8")
