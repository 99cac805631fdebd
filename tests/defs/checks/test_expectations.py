"""What is made of a table that is not as expected stays as it was; a suite's job validates all."""

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
from tests.core.tables.test_expectations import PLANTED, RIGHT, SOURCE
from tests.fakes.quiz import TASK, questions_asset, quiz, resources_over


def _with_kind(question: Question, kind: Any) -> Question:
    return replace(question, kind=kind)


KINDS: dict[str, tuple[type, list[Any], list[Any]]] = {
    "source": (SourceFile, [SOURCE], [replace(SOURCE, n_bytes=-1)]),
    "questions": (Question, quiz(2), [_with_kind(quiz(1)[0], "essay")]),
}


def made(kind, rows, folder):
    """Make a table, its check, and a table of it downstream; whether the latter was made."""
    row_type: Any = KINDS[kind][0]
    key = dg.AssetKey(["quiz", kind])

    table_type: Any = list[row_type]

    @dg.asset(key=key, dagster_type=table_type)
    def table():
        return rows

    @dg.asset(deps=[table])
    def downstream() -> None:
        folder.joinpath("made").touch()

    checks = source_checks([table]) if kind == "source" else task_checks(TASK)
    assets = [] if kind == "questions" else [questions_asset(quiz(2))]
    chosen = dg.AssetSelection.assets(*assets, table, downstream).without_checks()
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize(
            [
                *(check for check in checks if key in {one.asset_key for one in check.check_keys}),
                *assets,
                table,
                downstream,
            ],
            selection=chosen | dg.AssetSelection.checks(dg.AssetCheckKey(key, CHECK_NAME)),
            instance=instance,
            resources=resources_over(folder),
            raise_on_error=False,
        )
    (found,) = result.get_asset_check_evaluations()
    assert found.check_name == CHECK_NAME
    return folder.joinpath("made").exists(), found.passed


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_row_blocks_what_is_downstream(kind, tmp_path):
    _, right, wrong = KINDS[kind]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert made(kind, right, tmp_path / "a") == (True, True)
    assert made(kind, [*right, *wrong], tmp_path / "b") == (False, False)


@pytest.mark.long  # its import takes seconds
def test_great_expectations_finds_each_planted_fault_and_no_other():
    for kind, rows, _, broken in (case.values for case in PLANTED):
        failed = _failed(kind, rows)
        assert len(failed) == 1
        assert broken in failed[0]
    for kind, rows in RIGHT.items():
        assert _failed(kind, rows) == []
        assert _failed(kind, []) == ["expect_table_row_count_to_be_between of the table"]


def _failed(kind, rows):
    results = shared_validation().validate(kind, rows)
    return [f"{row.expectation} of {row.about}" for row in results if not row.passed]


EXPECTED = {"type": "expect_column_values_to_be_in_set", "column": "n_images", "value_set": [1]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "15 of 16 expectations hold; not: expect_column_values_to_be_in_set of n_images."),
        ({"value_set": [0]}, "16 of 16 expectations hold."),
        ({"column": "colour"}, "quiz: expectations of its suite: 'Question' object has no"),
        ({"type": "expect_the_best"}, "quiz: expectations of its suite: module"),
    ],
)
def test_a_suite_adds_expectations_beside_it(entry, message, tmp_path):
    lines = [f"{name} = {value!r}" for name, value in {**EXPECTED, **entry}.items()]
    (tmp_path / "expectations.toml").write_text("\n".join(["[[quiz]]", *lines]))
    result = validate_questions("quiz", tmp_path / "expectations.toml", quiz(2))
    assert str(result.description).startswith(message)
    assert result.passed == message.startswith("16")


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
    (result,) = (result for result in results if result.asset_check_key == key)
    assert result.description == "20 of 20 expectations hold."  # 15 of all suites, 5 of its own
