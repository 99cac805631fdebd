"""What is expected of the tables: one wrong row each, and what is right."""

from dataclasses import replace
from typing import Any

import pytest

from bench_assets.core.schema.rows import Metric, Prediction, SourceFile
from bench_assets.core.tables.expectations import EXPECTATIONS_BY_TABLE, problems, validate_table
from tests.cases import read_rows
from tests.fakes.quiz import quiz
from tests.fakes.rows import question

SOURCE = SourceFile(path="data/a.json", sha256="0" * 64, n_bytes=3)
PREDICTION = Prediction(question_id="quiz/0", model="m", condition="main", text="A")
MEASURED = Metric(
    task="quiz",
    model="m",
    condition="main",
    metric="accuracy",
    category="all",
    value=0.5,
    low=0.4,
    high=0.6,
    n_scored=4,
    n_unscored=0,
    n_failed=0,
    edition="own",
    signature="quiz|v1|main",
)
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
    assert problems(RIGHT[kind], EXPECTATIONS_BY_TABLE[kind]) == []


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
    assert problems(rows, EXPECTATIONS_BY_TABLE[kind]) == []


@pytest.mark.parametrize(("kind", "rows", "blocks", "broken"), PLANTED)
def test_one_wrong_row_breaks_one_expectation_and_no_other(kind, rows, blocks, broken):
    (problem,) = problems(rows, EXPECTATIONS_BY_TABLE[kind])
    assert broken in problem.partition(": ")[0]
    assert (
        bool(problems(rows, [one for one in EXPECTATIONS_BY_TABLE[kind] if one.blocking])) == blocks
    )


@pytest.mark.parametrize(
    ("n_wrong", "named"),
    [
        pytest.param(5, "'', '', '', '', ''", id="five are named"),
        pytest.param(6, "'', '', '', '', '' ...", id="of six the first five"),
    ],
)
def test_few_wrong_values_are_named(n_wrong, named):
    wrong = [replace(SOURCE, path="") for _ in range(n_wrong)]
    expected = [one for one in EXPECTATIONS_BY_TABLE["source"] if "match_regex" in one.type]
    assert problems(wrong, expected) == [
        f"expect_column_values_to_match_regex of path: {named}",
    ]


@pytest.mark.parametrize("kind", EXPECTATIONS_BY_TABLE)
def test_a_table_without_rows_is_reported_and_blocks_nothing(kind):
    assert [problem.partition(":")[0] for problem in problems([], EXPECTATIONS_BY_TABLE[kind])] == [
        "expect_table_row_count_to_be_between of the table"
    ]
    assert problems([], [one for one in EXPECTATIONS_BY_TABLE[kind] if one.blocking]) == []


@pytest.mark.parametrize(
    ("kind", "type_", "about", "arguments"),
    [
        ("source", "table_row_count_to_be_between", "the table", "min_value 1"),
        ("source", "column_values_to_be_between", "n_bytes", "min_value 0"),
        ("source", "column_values_to_be_unique", "path", ""),
        (
            *("metrics", "column_pair_values_a_to_be_greater_than_b", "value, low"),
            "or_equal True; ignore_row_if either_value_is_missing",
        ),
        (
            *("metrics", "compound_columns_to_be_unique"),
            *("model, condition, metric, category", ""),
        ),
    ],
)
def test_an_expectation_says_what_it_is_about_and_the_rest_of_its_arguments(
    kind, type_, about, arguments
):
    rows = validate_table(kind, RIGHT[kind], "t/source")
    expected = [(row.about, row.told) for row in rows if row.expectation == f"expect_{type_}"]
    assert (about, arguments) in expected
    assert {(row.table, row.rows) for row in rows} == {("t/source", len(RIGHT[kind]))}


def test_of_six_unexpected_values_the_first_five_are_kept():
    rows = validate_table("source", [replace(SOURCE, path=f"/{n}") for n in range(6)])
    assert [(row.n_unexpected, row.unexpected) for row in rows if not row.passed] == [
        (6, ("/0", "/1", "/2", "/3", "/4")),
    ]


@pytest.mark.parametrize("twice", [False, True], ids=["whole", "an id twice, a kind of its own"])
def test_a_table_of_questions_is_validated(twice):
    rows = [question(question_id=f"t/{n}") for n in range(7)]
    rows += [question(question_id="t/3", kind="riddle")] if twice else []
    assert bool(problems(rows, EXPECTATIONS_BY_TABLE["questions"])) is twice
    failed = {
        (one.expectation, one.unexpected)
        for one in validate_table("questions", rows)
        if not one.passed
    }
    assert failed == (
        {
            ("expect_column_values_to_be_unique", ("t/3", "t/3")),
            ("expect_column_values_to_be_in_set", ("riddle",)),
        }
        if twice
        else set()
    )
