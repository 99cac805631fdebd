"""All tables as CSV, Parquet and JSON Lines, read as their users read them."""

import csv
import re

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench_assets.core.schema.errors import UnknownNameError
from bench_assets.core.schema.rows import Question
from bench_assets.export.formats import FORMATS
from bench_assets.export.tables import FORMS, _Csv
from bench_assets.workspace.inspect.table_collection import TableFilter
from bench_resources.tables.parquet import TableFiles
from tests.export.measured_home import MODEL, NASTY, TASK, leaving, questions


@pytest.fixture(params=FORMS)
def exported(request, home):
    """Folder and form of an export."""
    out = home / "out"
    FORMATS[request.param](leaving(home, out))
    return out, request.param


def read(folder, form, name):
    file = folder / f"{name}.{form}"
    if form == "csv":
        return pd.read_csv(file, dtype={"error": str})
    return pd.read_parquet(file) if form == "parquet" else pd.read_json(file, lines=True)


def test_every_table_is_there_and_names_task_and_questions_first(exported):
    folder, form = exported
    assert {file.stem for file in folder.iterdir()} == {
        *("questions", "predictions", "judgements", "scores", "metrics", "leaderboard")
    }
    for name, n in {"questions": 4, "predictions": 4, "judgements": 4, "scores": 4}.items():
        frame = read(folder, form, name)
        assert list(frame.columns[:3]) == ["task", "question_set", "question_id"]
        assert len(frame) == n
    points = read(folder, form, "scores")["points"]
    assert points.isna().tolist() == [False, False, True, False]
    metrics = read(folder, form, "metrics")
    assert metrics["value"].isna().tolist() == [False, True]
    blind = metrics[["constant", "shuffled"]]
    assert blind.iloc[0].tolist() == [1.0, 0.25]
    assert blind.iloc[1].isna().all()  # not known, and not 0
    assert b"nan" not in (folder / f"metrics.{form}").read_bytes().lower() or form == "parquet"


@pytest.mark.parametrize("form", [form for form in FORMS if form != "csv"])
def test_texts_come_back_as_they_were_whatever_they_begin_with(home, form):
    folder = home / "out"
    FORMATS[form](leaving(home, folder))
    frame = read(folder, form, "questions")
    assert frame["text"][1] == f"What is 1? {NASTY}"
    assert frame["context"][1] == "@context"
    assert list(frame["options"][1]) == [NASTY, "- minus"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＠"])
def test_a_cell_of_csv_is_no_formula(tmp_path, start):
    table = pa.table({"a": [f"{start}cmd|'/c calc'!A0", "1 = 1", "", None], "n": [-1.5, 2, 3, 4]})
    file = tmp_path / "a.csv"
    with file.open("wb") as opened:
        writer = _Csv(opened, table.schema)
        writer.write_table(table)
        writer.close()
    with file.open(newline="") as opened:
        rows = list(csv.reader(opened))
    assert rows[1] == [f"'{start}cmd|'/c calc'!A0", "-1.5"]
    assert [row[0] for row in rows[2:]] == ["1 = 1", "", ""]


def test_csv_keeps_an_empty_text_apart_from_nothing(home):
    FORMATS["csv"](leaving(home, home / "out"))
    found = duckdb.sql(
        "SELECT note = '' AS empty, points IS NULL AS nothing"
        f" FROM read_csv('{home}/out/scores.csv', allow_quoted_nulls = false)"
        " WHERE question_id = 'quiz/2'"
    )
    assert found
    assert found.fetchall() == [(True, True)]


def test_what_was_measured_on_other_questions_is_left_out_and_reported(home):
    TableFiles(folder=str(home / "tables")).write(
        ["quiz", "questions"], questions("published")[:3], Question
    )
    leaves = leaving(home, home / "out")
    FORMATS["jsonl"](leaves)
    assert (home / "out/predictions.jsonl").read_text() == ""
    assert leaves.collection.left_out == [f"quiz of {MODEL}: its questions have changed since"]


def test_a_damaged_table_does_not_end_the_rest(home):
    (file,) = (home / "tables/quiz/judgements").iterdir()
    file.write_bytes(b"PAR1")
    leaves = leaving(home, home / "out")
    FORMATS["jsonl"](leaves)
    assert (home / "out/scores.jsonl").read_text().count("\n") == 4
    (line,) = leaves.collection.left_out
    assert str(file) in line


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        pytest.param(TableFilter([TASK], models=["run/step-150"]), MODEL, id="a model"),
        pytest.param(TableFilter([TASK], conditions=["Main"]), "main", id="a condition"),
        pytest.param(TableFilter([TASK], editions=["minni"]), "mini", id="an edition"),
    ],
)
def test_a_name_that_is_none_is_an_error_with_the_nearest(home, wanted, meant):
    with pytest.raises(UnknownNameError, match=f"did you mean '{re.escape(meant)}'"):
        leaving(home, home / "out", wanted)


def test_parquet_has_no_maps_and_no_empty_row_groups(home):
    """``datasets`` 5.2 reads neither; labels are lists of keys and values."""
    folder = home / "out"
    FORMATS["parquet"](leaving(home, folder))
    for file in folder.glob("*.parquet"):
        about = pq.ParquetFile(file)
        rows = [about.metadata.row_group(n).num_rows for n in range(about.metadata.num_row_groups)]
        assert 0 not in rows, file.name
        assert not any(pa.types.is_map(field.type) for field in about.schema_arrow), file.name
    (level,) = pq.read_table(folder / "questions.parquet").column("labels").to_pylist()[1]
    assert level == {"key": "level", "value": "hard"}
