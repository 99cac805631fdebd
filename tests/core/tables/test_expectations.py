from dataclasses import replace
from typing import Any

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Prediction, SourceFile
from bench_assets.core.tables.expectations import (
    EXPECTATIONS_BY_TABLE,
    Expectation,
    blocking_failures,
    expected_columns,
    read_expectations,
)
from tests.cases import read_rows
from tests.fakes.quiz import quiz
from tests.fakes.rows import metric, question

SOURCE = SourceFile(path="data/a.json", sha256="0" * 64, n_bytes=3)
PREDICTION = Prediction(question_id="quiz/0", model="m", condition="main", text="A")
METRIC = metric("m", 0.5, task="quiz", low=0.4, high=0.6, n_scored=4, edition="own")
VALID_ROWS: dict[str, list[Any]] = {
    "source": [SOURCE],
    "questions": quiz(2),
    "predictions": [
        PREDICTION,
        replace(PREDICTION, sample=1),
        replace(PREDICTION, model="n", seconds=0.0),
    ],
    "metrics": [METRIC, replace(METRIC, metric="f1", value=float("nan"))],
}


def planted_fault(table, blocks, expectation, reason, changes):
    """A case with changes of the first row of a table; without changes, with this row twice."""
    first, *others = VALID_ROWS[table]
    rows = [replace(first, **changes), *others] if changes else [first, first, *others]
    return pytest.param(table, rows, blocks, expectation, id=f"{table}: {reason}")


QUESTIONS_OF_NO_EDITION = [replace(row, edition="latest") for row in quiz(2)]  # type: ignore[arg-type]
PLANTED_FAULTS = [
    *(planted_fault(*row) for row in read_rows(__file__, "planted_faults.jsonl", tuples=True)),
    pytest.param(
        "questions",
        QUESTIONS_OF_NO_EDITION,
        True,
        "in_set of edition",
        id="questions: no edition",
    ),
]


@pytest.mark.parametrize("table", EXPECTATIONS_BY_TABLE)
def test_valid_rows_break_no_expectation(table):
    assert blocking_failures(VALID_ROWS[table], table) == []


@pytest.mark.parametrize(
    ("table", "changes"), read_rows(__file__, "values_at_the_edge.jsonl", tuples=True)
)
def test_values_at_the_edge_of_what_is_valid_break_no_expectation(table, changes):
    first, *others = VALID_ROWS[table]
    assert blocking_failures([replace(first, **changes), *others], table) == []


@pytest.mark.parametrize(("table", "rows", "blocks", "expectation"), PLANTED_FAULTS)
def test_a_planted_fault_fails_its_expectation_alone_if_that_blocks(
    table, rows, blocks, expectation
):
    failed = [failure.partition(": ")[0] for failure in blocking_failures(rows, table)]
    assert len(failed) == int(blocks)
    assert all(expectation in name for name in failed)


@pytest.mark.parametrize(
    ("n_wrong", "values"),
    [
        pytest.param(5, "'', '', '', '', ''", id="all five"),
        pytest.param(6, "'', '', '', '', '' ...", id="the first five of six"),
    ],
)
def test_up_to_five_wrong_values_are_named(n_wrong, values):
    rows = [replace(SOURCE, path=str(n), sha256="") for n in range(n_wrong)]
    assert blocking_failures(rows, "source") == [
        f"expect_column_values_to_match_regex of sha256: {values}"
    ]


@pytest.mark.parametrize("table", EXPECTATIONS_BY_TABLE)
def test_a_table_without_rows_breaks_no_expectation(table):
    assert blocking_failures([], table) == []


def test_expectations_see_the_number_of_options_of_a_question():
    expectation = Expectation("expect_column_max_to_be_between", {"column": "n_options"})
    questions = [question(), question(options=("red", "blue"))]
    assert expected_columns(questions, [expectation]) == {"n_options": [0, 2]}


@pytest.mark.parametrize(
    ("text", "expected_message"),
    [
        ('[[quiz]]\ncolumn = "kind"', "quiz: 'type' (expected tables"),
        ('quiz = "kind"', "quiz: "),
        ("[[quiz", "quiz: "),
    ],
)
def test_a_file_of_expectations_that_cannot_be_read_is_named(text, expected_message, tmp_path):
    file = tmp_path / "expectations.toml"
    file.write_text(text)
    with pytest.raises(SettingsError) as error:
        read_expectations(file, "quiz")
    assert f"{file}, {expected_message}" in str(error.value)
