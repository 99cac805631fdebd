"""What is made of a table that is not as expected stays as it was; Great Expectations agrees."""

from dataclasses import replace
from typing import Any

import dagster as dg
import pytest

from bench_assets.core.schema.rows import Question, SourceFile
from bench_assets.core.tables.expectations import EXPECTATIONS_BY_TABLE, problems
from bench_assets.defs.checks.expectations import CHECK_NAME, source_checks
from bench_assets.defs.checks.table_checks import task_checks
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
def test_great_expectations_says_the_same():
    from bench_assets.defs.checks.expectations import shared_validation

    tables = [(kind, rows) for kind, rows, *_ in (case.values for case in PLANTED)]
    for kind, rows in [*tables, *RIGHT.items(), *((kind, []) for kind in EXPECTATIONS_BY_TABLE)]:
        failed = [
            f"{one.expectation} of {one.about}"
            for one in shared_validation().validate(kind, rows)
            if not one.passed
        ]
        assert failed == [
            one.partition(": ")[0] for one in problems(rows, EXPECTATIONS_BY_TABLE[kind])
        ]
