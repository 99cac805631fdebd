"""What is expected of the tables, and blocks: one wrong row each, and what is right."""

from dataclasses import replace
from typing import Any

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Prediction, SourceFile
from bench_assets.core.tables.expectations import (
    EXPECTATIONS_BY_TABLE,
    blocking_failures,
    read_expectations,
)
from tests.cases import read_rows
from tests.fakes.quiz import quiz
from tests.fakes.rows import metric

SOURCE = SourceFile(path="data/a.json", sha256="0" * 64, n_bytes=3)
PREDICTION = Prediction(question_id="quiz/0", model="m", condition="main", text="A")
MEASURED = metric("m", 0.5, task="quiz", low=0.4, high=0.6, n_scored=4, edition="own")
LATEST: dict[str, Any] = {"edition": "latest"}
RIGHT: dict[str, list[Any]] = {
    "source": [SOURCE],
    "questions": quiz(2),
    "predictions": [
        PREDICTION,
        replace(PREDICTION, sample=1),
        replace(PREDICTION, model="n", seconds=0.0),
    ],
    "metrics": [MEASURED, replace(MEASURED, metric="f1", value=float("nan"))],
}


def planted(table, blocks, broken, reason, /, **changes):
    row = replace(RIGHT[table][0], **changes)
    rows = [row, *RIGHT[table][1:]] if changes else [row, *RIGHT[table]]
    return pytest.param(table, rows, blocks, broken, id=f"{table}: {reason}")


PLANTED = [
    *(
        planted(table, blocks, broken, reason, **changes)
        for table, blocks, broken, reason, changes in read_rows(
            __file__, "planted_faults.jsonl", tuples=True
        )
    ),
    pytest.param(
        "questions",
        [replace(row, **LATEST) for row in quiz(2)],
        *(True, "in_set of edition"),
        id="questions: no edition",
    ),
]


@pytest.mark.parametrize("kind", EXPECTATIONS_BY_TABLE)
def test_a_table_without_a_fault_is_as_expected(kind):
    assert blocking_failures(RIGHT[kind], kind) == []


@pytest.mark.parametrize(
    ("kind", "edge"),
    [
        ("source", {"n_bytes": 0}),
        ("questions", {"text": "?", "answer": ("A",)}),
        ("predictions", {"prompt_tokens": 0, "completion_tokens": 0, "seconds": 0.0}),
        ("predictions", {"prompt_sha256": "f" * 64}),
        ("metrics", {"n_scored": 0, "n_unscored": 0, "n_failed": 0}),
        ("metrics", {"low": 0.5, "high": 0.5}),
        ("metrics", {"edition": "unknown"}),
        ("metrics", {"edition": ""}),
    ],
)
def test_the_least_that_there_may_be_is_as_expected(kind, edge):
    rows = [replace(RIGHT[kind][0], **edge), *RIGHT[kind][1:]]
    assert blocking_failures(rows, kind) == []


@pytest.mark.parametrize(("kind", "rows", "blocks", "broken"), PLANTED)
def test_one_wrong_row_breaks_one_expectation_and_no_other(kind, rows, blocks, broken):
    assert [broken in problem.partition(": ")[0] for problem in blocking_failures(rows, kind)] == (
        [True] if blocks else []
    )


@pytest.mark.parametrize(
    ("n_wrong", "named"),
    [
        pytest.param(5, "'', '', '', '', ''", id="five are named"),
        pytest.param(6, "'', '', '', '', '' ...", id="of six the first five"),
    ],
)
def test_few_wrong_values_are_named(n_wrong, named):
    wrong = [replace(SOURCE, path=str(n), sha256="") for n in range(n_wrong)]
    assert blocking_failures(wrong, "source") == [
        f"expect_column_values_to_match_regex of sha256: {named}",
    ]


@pytest.mark.parametrize("kind", EXPECTATIONS_BY_TABLE)
def test_a_table_without_rows_blocks_nothing(kind):
    assert blocking_failures([], kind) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[quiz]]\ncolumn = "kind"', "quiz: 'type' (expected tables"),
        ('quiz = "kind"', "quiz: "),
        ("[[quiz", "quiz: "),
    ],
)
def test_expectations_beside_a_suite_that_cannot_be_read_are_named(text, message, tmp_path):
    (file := tmp_path / "expectations.toml").write_text(text)
    with pytest.raises(SettingsError) as error:
        read_expectations(file, "quiz")
    assert f"{file}, {message}" in str(error.value)
