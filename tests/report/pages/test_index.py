"""What the first page is told: every model, what it got, and why not."""

import json
from collections.abc import Mapping
from dataclasses import fields, make_dataclass
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.rows import Metric, Question
from bench_resources.tables.parquet import TableFiles
from tests.fakes.quiz import quiz
from tests.report.fair import OUTSIDE, catalog, fair_home, measure, metric, report


def page_data(page: Path, name: str) -> dict[str, Any]:
    """The value of a data file."""
    (file,) = (page.parent / "data").glob(f"{name}.*.js")
    text = file.read_text(encoding="utf-8")
    return json.loads(text.partition(",")[2].removesuffix(");\n"))


def rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """As app/index.js unpacks columns."""

    def unpacked(column: list[Any]) -> list[Any]:
        packed = len(column) == 2 and all(isinstance(part, list) for part in column)
        return [column[0][number] for number in column[1]] if packed else column

    names = list(columns)
    values = zip(*(unpacked(columns[name]) for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in values]


@pytest.fixture
def tables(tmp_path: Path) -> TableFiles:
    files = TableFiles(folder=str(tmp_path / "tables"))
    files.write(["quiz", "questions"], quiz(6, categories=3), Question)
    return files


def index_of(tmp_path: Path, tables: TableFiles) -> dict[str, Any]:
    return page_data(report(tmp_path, tables, catalog(tmp_path)), "index")


def row_of(index: dict[str, Any], model: str) -> dict[str, Any]:
    (found,) = (row for row in rows(index["rows"]) if row["model"] == model)
    return found


def test_models_runs_conditions_and_published_numbers_are_all_there(tmp_path: Path) -> None:
    index = page_data(fair_home(tmp_path), "index")
    assert index["tasks"][0]["measured"] == ["main", "blind"]
    assert index["tasks"][0]["questions"] == 6
    steps = {one["name"]: (one["run"], one["step"]) for one in index["models"]}
    assert steps["run/step-900"] == ("run", 900)
    assert steps[OUTSIDE] == (None, None)
    found = {(row["model"], row["condition"]): row["value"] for row in rows(index["rows"])}
    assert found["run/step-900", "main"] == 0.8
    assert found["run/step-900", "blind"] == 0.2
    assert [row["model"] for row in index["published"]] == ["GPT-4V", "Human"]


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder = fair_home(tmp_path).parent
    files = {path.relative_to(folder).parts[0] for path in folder.rglob("*") if path.is_file()}
    assert files == {".stamps.json", "index.html", "app", "data", "style", "vendor"}


def test_a_model_measured_on_other_questions_is_stale(tmp_path: Path, tables: TableFiles) -> None:
    measure(tables, "old", 0.9)
    tables.write(["quiz", "questions"], quiz(7, categories=3), Question)
    row = row_of(index_of(tmp_path, tables), "old")
    assert row["value"] == 0.9
    assert "changed" in row["stale"]


def test_a_table_that_cannot_be_read_is_a_name_with_a_reason(
    tmp_path: Path, tables: TableFiles
) -> None:
    measure(tables, "whole", 0.9)
    measure(tables, "spoilt", 0.9)
    tables.path(["quiz", "metrics"], "spoilt").write_bytes(b"PAR1 no table PAR1")
    index = index_of(tmp_path, tables)
    assert row_of(index, "whole")["value"] == 0.9
    assert row_of(index, "spoilt")["value"] is None
    assert "spoilt" in row_of(index, "spoilt")["unreadable"]


def test_a_value_that_is_none_is_none(tmp_path: Path, tables: TableFiles) -> None:
    nothing = metric("silent", float("nan"))
    tables.write(["quiz", "metrics"], [nothing], Metric, "silent")
    assert row_of(index_of(tmp_path, tables), "silent")["value"] is None


def test_a_home_without_tables_has_a_report(tmp_path: Path) -> None:
    files = TableFiles(folder=str(tmp_path / "tables"))
    index = index_of(tmp_path, files)
    assert rows(index["rows"]) == []
    assert index["tasks"][0]["edition"] == ""


def test_one_more_model_makes_the_task_again_and_nothing_makes_nothing_again(
    tmp_path: Path, tables: TableFiles
) -> None:
    measure(tables, "one", 0.5)
    page = report(tmp_path, tables, catalog(tmp_path))
    before = {path.name for path in (page.parent / "data").iterdir()}
    report(tmp_path, tables, catalog(tmp_path))
    assert {path.name for path in (page.parent / "data").iterdir()} == before
    measure(tables, "two", 0.6)
    report(tmp_path, tables, catalog(tmp_path))
    (task,) = (path for path in (page.parent / "data").iterdir() if path.name.startswith("task-"))
    assert task.name not in before


def test_the_task_has_every_cell_with_its_signature(tmp_path: Path) -> None:
    page = fair_home(tmp_path)
    (file,) = (page.parent / "data").glob("task-*.js")
    data = page_data(page, file.name.split(".")[0])
    cells = rows(data["rows"])
    assert len(cells) == 7 * 4  # six models, one of them under two conditions; all and three kinds
    assert data["categories"] == ["kind 0", "kind 1", "kind 2"]
    assert {cell["signature"].split("|")[0] for cell in cells} == {"quiz"}
    assert [row["printed"] for row in rows(data["published"])] == ["70.0", "80.0", "90.0"]


def test_metrics_of_a_version_with_fewer_columns_are_shown(
    tmp_path: Path, tables: TableFiles
) -> None:
    new = {"n_refused", "unread", "served", "n_rejected", "n_no_answer"}
    columns = [(one.name, one.type) for one in fields(Metric) if one.name not in new]
    older = make_dataclass("older", columns, kw_only=True)
    row = older(**{name: getattr(metric("old", 0.5), name) for name, _ in columns})
    tables.write(["quiz", "metrics"], [row], older, "old")
    found = row_of(index_of(tmp_path, tables), "old")
    assert (found["value"], found["unread"], found["n_refused"]) == (0.5, None, None)
