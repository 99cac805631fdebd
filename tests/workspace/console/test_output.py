import json
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import pytest

from bench_assets.workspace.console.output import (
    Cell,
    format_table,
    print_json_result,
    print_message,
    print_result,
    print_rows,
    table_text,
)

HOSTILE = "\x1b]8;;http://x\x07a\x1b[2K\r\x9b31m\u202eb\nforged row :bug: [bold]中文 👩\u200d🔬"
CONTROLS = {"\x1b", "\x07", "\r", "\x9b", "\u202e"}


@dataclass
class Row:
    name: str
    several: tuple[str, ...] = ("a", HOSTILE)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))


def test_a_table_has_a_line_for_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([Row(HOSTILE)], as_json=False)
    print_rows([Row(HOSTILE)], as_json=False, columns={"name": lambda row: row.name})
    printed = capsys.readouterr().out
    assert not CONTROLS & set(printed)
    assert len(printed.splitlines()) == 4  # two tables of a heading and a row
    assert "forged row :bug: [bold]中文 👩\u200d🔬" in printed


def test_json_lines_are_read_back_as_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([Row(HOSTILE)], as_json=True)
    print_json_result({"a": HOSTILE})
    first, second = capsys.readouterr().out.splitlines()
    assert not CONTROLS & set(first + second)
    assert json.loads(first) == {"name": HOSTILE, "several": ["a", HOSTILE]}
    assert json.loads(second) == {"a": HOSTILE}


def test_messages_and_results_are_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_message(f"error: {HOSTILE}")
    print_result(HOSTILE)
    printed = "".join(capsys.readouterr())
    assert not CONTROLS & set(printed)
    assert ":bug: [bold]中文 👩\u200d🔬" in printed


def named_columns(**cells: str) -> dict[str, Cell]:
    """Columns that show the cells of the same name."""
    return {name: itemgetter(name) for name in cells}


NOTED_ROWS = [
    {"model": "a", "value": "0.5", "part": "PARTIAL: 2 of 4", "notes": "few clusters"},
    {"model": "b", "value": "0.4", "part": "PARTIAL: 2 of 4", "notes": "few clusters"},
    {"model": "c", "value": "0.3", "part": "", "notes": ""},
]


def test_remarks_are_columns_where_there_is_space() -> None:
    table = table_text(format_table(NOTED_ROWS, named_columns(**NOTED_ROWS[0]), 80), 80)
    _, first_row, *_ = table.splitlines()
    assert first_row.split() == ["a", "0.5", "PARTIAL:", "2", "of", "4", "few", "clusters"]


def test_remarks_stand_below_a_table_that_would_be_too_wide() -> None:
    table = table_text(format_table(NOTED_ROWS, named_columns(**NOTED_ROWS[0]), 30), 60)
    assert table.splitlines() == [
        "model  value",
        "a      0.5",
        "b      0.4",
        "c      0.3",
        "a, b: PARTIAL: 2 of 4; few clusters",
    ]


def metric_row(model: str, name: str, category: str, value: str, interval: str) -> dict[str, str]:
    return {
        "model": model, "task": "codis", "metric": name, "category": category,
        "value": value, "95 % interval": interval, "constant": "0.000", "unread": "0.0 %",
    }  # fmt: skip


def test_an_interval_stands_beside_its_value_where_both_columns_are_too_wide() -> None:
    rows = [
        metric_row("tiny-vlm/step-6840", "acc_p", "all", "0.425", "0.276 to 0.588"),
        metric_row("most-frequent", "acc_p", "all", "0.000 to 0.950", ""),
    ]
    table = table_text(format_table(rows, named_columns(**rows[0]), 72), 72)
    assert table.splitlines() == [
        "codis, acc_p",
        "model               category  value, 95 % interval  constant  unread",
        "tiny-vlm/step-6840  all       0.425 0.276 to 0.588  0.000     0.0 %",
        "most-frequent       all       0.000 to 0.950        0.000     0.0 %",
    ]
    table = table_text(format_table(rows, named_columns(**rows[0]), 60), 60)
    assert table.splitlines()[:2] == [
        "codis, acc_p, constant 0.000",
        "model               category  value, 95 % interval  unread",
    ]


def test_each_model_has_a_table_whose_cells_break_between_words() -> None:
    categories = ("Location and Orientation", "hallucination/false_premises")
    rows = [
        metric_row(model, "context_awareness", category, "0.525", "0.387 to 0.660")
        for model in ("random", "most-frequent")
        for category in categories
    ]
    table = table_text(format_table(rows, named_columns(**rows[0]), 50), 50)
    rows_of_a_model = [
        "category              value, 95 % interval  unread",
        "Location and          0.525 0.387 to 0.660  0.0 %",
        "Orientation",
        "hallucination/false_  0.525 0.387 to 0.660  0.0 %",
        "premises",
    ]
    assert table.splitlines() == [
        "random, codis, context_awareness, constant 0.000",
        *rows_of_a_model,
        "most-frequent, codis, context_awareness, constant",
        "0.000",
        *rows_of_a_model,
    ]


def test_rows_that_are_too_wide_have_a_line_for_each_field_that_is_not_empty(capsys, monkeypatch):
    monkeypatch.setattr("bench_assets.workspace.console.output.output_width", lambda: 10)
    print_rows([Row("abcdefghij", ("klmnopqrst",)), Row("", ("u",))], as_json=False)
    assert capsys.readouterr().out == "name: abcdefghij\nseveral: klmnopqrst\n\nseveral: u\n\n"


def test_a_basis_that_rows_share_stands_above_the_table() -> None:
    rows = [{"compared": name, "basis": "3 models"} for name in ("same", "other")]
    table = table_text(format_table(rows, named_columns(**rows[0]), 80), 80)
    assert table.splitlines() == ["3 models", "compared", "same", "other"]
