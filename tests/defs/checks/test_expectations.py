from dataclasses import replace
from typing import Any

import dagster as dg
import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.rows import Question, SourceFile
from bench_assets.defs.assembly import build_graph
from bench_assets.defs.checks.expectations import (
    CHECK_NAME,
    shared_validation,
    source_checks,
    validate_questions,
)
from bench_assets.defs.checks.table_checks import task_checks
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.core.tables.test_expectations import PLANTED_FAULTS, SOURCE, VALID_ROWS
from tests.fakes.quiz import TASK, questions_asset, quiz, resources_over

SOURCE_FILES: Any = list[SourceFile]  # Dagster converts it to a type of its own


@dg.asset(key=["quiz", "source"], dagster_type=SOURCE_FILES)
def valid_source():
    return [SOURCE]


@dg.asset(key=["quiz", "source"], dagster_type=SOURCE_FILES)
def invalid_source():
    return [SOURCE, replace(SOURCE, n_bytes=-1)]


def question_of_unknown_kind() -> Question:
    (question,) = quiz(1)
    kind: Any = "essay"
    return replace(question, question_id="quiz/2", kind=kind)


def materialize_with_check(table, home):
    """Materialize a table, its check of expectations, and an asset downstream of it."""

    @dg.asset(deps=[table])
    def downstream() -> None: ...

    check_key = dg.AssetCheckKey(table.key, CHECK_NAME)
    checks = [*source_checks([valid_source]), *task_checks(TASK)]
    assets = dg.AssetSelection.assets(table, downstream).without_checks()
    with dg.DagsterInstance.ephemeral() as instance:
        return dg.materialize(
            [table, downstream, *(check for check in checks if check_key in check.check_keys)],
            selection=assets | dg.AssetSelection.checks(check_key),
            instance=instance,
            resources=resources_over(home),
            raise_on_error=False,
        )


@pytest.mark.parametrize(
    ("table", "is_valid"),
    [
        pytest.param(valid_source, True, id="valid source files"),
        pytest.param(invalid_source, False, id="an invalid source file"),
        pytest.param(questions_asset(quiz(2)), True, id="valid questions"),
        pytest.param(
            questions_asset([*quiz(2), question_of_unknown_kind()]), False, id="an invalid question"
        ),
    ],
)
def test_an_invalid_row_blocks_downstream_assets(table, is_valid, tmp_path):
    result = materialize_with_check(table, tmp_path)
    (evaluation,) = result.get_asset_check_evaluations()
    assert (evaluation.check_name, evaluation.passed) == (CHECK_NAME, is_valid)
    assert bool(result.asset_materializations_for_node("downstream")) is is_valid


# Great Expectations takes seconds to import: tests with it are long.


@pytest.mark.long
@pytest.mark.parametrize(("kind", "rows", "_", "broken_expectation"), PLANTED_FAULTS)
def test_great_expectations_finds_a_planted_fault_and_no_other(kind, rows, _, broken_expectation):
    (failed,) = failed_expectations(kind, rows)
    assert broken_expectation in failed


@pytest.mark.long
@pytest.mark.parametrize(("kind", "rows"), VALID_ROWS.items())
def test_great_expectations_finds_no_fault_in_right_rows(kind, rows):
    assert failed_expectations(kind, rows) == []


@pytest.mark.long
@pytest.mark.parametrize("kind", VALID_ROWS)
def test_great_expectations_finds_an_empty_table(kind):
    expected = ["expect_table_row_count_to_be_between of the table"]
    assert failed_expectations(kind, []) == expected


def failed_expectations(kind, rows):
    results = shared_validation().validate(kind, rows)
    return [f"{row.expectation} of {row.about}" for row in results if not row.passed]


EXPECTATION = {"type": "expect_column_values_to_be_in_set", "column": "n_images", "value_set": [1]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("changes", "is_met", "message"),
    [
        (
            {},
            False,  # 15 of all suites hold, and this one of its own does not
            "15 of 16 expectations hold; not: expect_column_values_to_be_in_set of n_images.",
        ),
        ({"value_set": [0]}, True, "16 of 16 expectations hold."),
        ({"column": "colour"}, False, "quiz: expectations of its suite: 'Question' object has no"),
        ({"type": "expect_the_best"}, False, "quiz: expectations of its suite: module"),
    ],
)
def test_expectations_of_a_suite_are_added(changes, is_met, message, tmp_path):
    lines = [f"{name} = {value!r}" for name, value in {**EXPECTATION, **changes}.items()]
    (tmp_path / "expectations.toml").write_text("\n".join(["[[quiz]]", *lines]))
    result = validate_questions("quiz", tmp_path / "expectations.toml", quiz(2))
    assert str(result.description).startswith(message)
    assert result.passed is is_met


@pytest.mark.long
def test_the_job_of_a_suite_validates_its_questions_and_a_command_does_not(tmp_path):
    settings = load_settings(tmp_path)
    catalog = load_catalog(settings, only={"codis"})
    key = dg.AssetCheckKey(dg.AssetKey(["codis", "questions"]), "expectations")
    with Workbench(settings, catalog=catalog) as bench:
        assert key not in bench.definitions.resolve_asset_graph().asset_check_keys
    job = build_graph(settings, catalog).definitions.resolve_job_def("codis_questions")
    with dg.DagsterInstance.ephemeral() as instance:
        results = job.execute_in_process(instance=instance).get_asset_check_evaluations()
    (result,) = (row for row in results if row.asset_check_key == key)
    assert result.description == "20 of 20 expectations hold."  # 15 of all suites, 5 of its own
