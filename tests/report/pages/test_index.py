from collections.abc import Mapping
from dataclasses import fields, make_dataclass
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.rows import Metric, Question
from bench_assets.report.site.folder import slug
from bench_resources.tables.parquet import TableFiles
from tests.audit.test_report_page import data
from tests.fakes.quiz import quiz
from tests.report.fair import OUTSIDE, build_fair_home, build_report, catalog, metric, write_metrics


def unpack_rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Unpack columns as ``unpackRows`` of app/base/results.js does."""
    values = map(_unpack_column, columns.values())
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def _unpack_column(column: list[Any]) -> list[Any]:
    """The values of a column, which may be a pair of distinct values and codes."""
    match column:
        case [list() as distinct, list() as codes]:
            return [distinct[code] for code in codes]
    return column


@pytest.fixture(scope="module")
def fair_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    build_fair_home(folder)
    return folder


@pytest.fixture
def tables(tmp_path: Path) -> TableFiles:
    files = TableFiles(folder=str(tmp_path / "tables"))
    files.write(["quiz", "questions"], quiz(6, categories=3), Question)
    return files


def build_index(tmp_path: Path, tables: TableFiles) -> dict[str, Any]:
    build_report(tmp_path, tables, catalog(tmp_path))
    return data(tmp_path, "index")


def find_row(index: dict[str, Any], model: str) -> dict[str, Any]:
    (row,) = (row for row in unpack_rows(index["rows"]) if row["model"] == model)
    return row


def test_a_task_has_its_measured_conditions_and_questions(fair_home: Path) -> None:
    (task,) = data(fair_home, "index")["tasks"]
    assert task["measured"] == ["main", "blind"]
    assert task["questions"] == 6


def test_a_checkpoint_has_its_run_and_step(fair_home: Path) -> None:
    models = data(fair_home, "index")["models"]
    steps = {model["name"]: (model["run"], model["step"]) for model in models}
    assert steps["run/step-900"] == ("run", 900)
    assert steps[OUTSIDE] == (None, None)


def test_values_are_listed_by_model_and_condition(fair_home: Path) -> None:
    index = data(fair_home, "index")
    values = {(row["model"], row["condition"]): row["value"] for row in unpack_rows(index["rows"])}
    assert values["run/step-900", "main"] == 0.8
    assert values["run/step-900", "blind"] == 0.2


def test_published_numbers_are_listed(fair_home: Path) -> None:
    index = data(fair_home, "index")
    assert [row["model"] for row in index["published"]] == ["GPT-4V", "Human"]


def test_no_model_name_makes_a_file_outside_the_known_folders(fair_home: Path) -> None:
    folder = fair_home / "report"
    files = {path.relative_to(folder).parts[0] for path in folder.rglob("*") if path.is_file()}
    assert files == {".stamps.json", "index.html", "app", "data", "style", "vendor"}


def test_a_model_measured_on_other_questions_is_stale(tmp_path: Path, tables: TableFiles) -> None:
    write_metrics(tables, "old", 0.9)
    tables.write(["quiz", "questions"], quiz(7, categories=3), Question)
    row = find_row(build_index(tmp_path, tables), "old")
    assert row["value"] == 0.9
    assert "changed" in row["stale"]


def test_a_model_with_an_unreadable_table_has_a_reason_and_no_value(tmp_path, tables):
    write_metrics(tables, "sound", 0.9)
    write_metrics(tables, "spoilt", 0.9)
    tables.path(["quiz", "metrics"], "spoilt").write_bytes(b"PAR1 no table PAR1")
    index = build_index(tmp_path, tables)
    assert find_row(index, "sound")["value"] == 0.9
    assert find_row(index, "spoilt")["value"] is None
    assert "spoilt" in find_row(index, "spoilt")["unreadable"]


def test_a_value_that_is_not_a_number_is_null(tmp_path: Path, tables: TableFiles) -> None:
    tables.write(["quiz", "metrics"], [metric("silent", float("nan"))], Metric, "silent")
    assert find_row(build_index(tmp_path, tables), "silent")["value"] is None


def test_a_home_without_tables_has_a_report(tmp_path: Path) -> None:
    files = TableFiles(folder=str(tmp_path / "tables"))
    index = build_index(tmp_path, files)
    assert unpack_rows(index["rows"]) == []
    assert index["tasks"][0]["edition"] == ""


def data_files(page: Path) -> set[str]:
    return {file.name for file in (page.parent / "data").iterdir()}


def test_a_report_of_unchanged_tables_has_the_same_files(tmp_path, tables):
    write_metrics(tables, "one", 0.5)
    before = data_files(build_report(tmp_path, tables, catalog(tmp_path)))
    assert data_files(build_report(tmp_path, tables, catalog(tmp_path))) == before


def test_a_further_model_changes_the_file_of_the_task(tmp_path: Path, tables: TableFiles) -> None:
    write_metrics(tables, "one", 0.5)
    before = data_files(build_report(tmp_path, tables, catalog(tmp_path)))
    write_metrics(tables, "two", 0.6)
    after = data_files(build_report(tmp_path, tables, catalog(tmp_path)))
    (task_file,) = (name for name in after if name.startswith("task-"))
    assert task_file not in before


def test_a_task_has_its_cells_categories_and_published_numbers(fair_home: Path) -> None:
    task = data(fair_home, f"task-{slug('quiz')}")
    cells = unpack_rows(task["rows"])
    assert len(cells) == 7 * 4  # six models, one of them under two conditions; all and three kinds
    blind = {row["category"]: row["value"] for row in cells if row["condition"] == "blind"}
    assert blind == dict.fromkeys(("all", "kind 0", "kind 1", "kind 2"), 0.2)
    assert task["categories"] == ["kind 0", "kind 1", "kind 2"]
    assert [row["printed"] for row in unpack_rows(task["published"])] == ["70.0", "80.0", "90.0"]


def test_metrics_of_a_version_with_fewer_columns_are_shown(tmp_path, tables):
    new_columns = {"n_refused", "unread", "served", "n_rejected", "n_no_answer"}
    columns = [(field.name, field.type) for field in fields(Metric)]
    old_columns = [(name, kind) for name, kind in columns if name not in new_columns]
    old_type = make_dataclass("OldMetric", old_columns, kw_only=True)
    old_row = old_type(**{name: getattr(metric("old", 0.5), name) for name, _ in old_columns})
    tables.write(["quiz", "metrics"], [old_row], old_type, "old")

    row = find_row(build_index(tmp_path, tables), "old")

    assert (row["value"], row["unread"], row["n_refused"]) == (0.5, None, None)
