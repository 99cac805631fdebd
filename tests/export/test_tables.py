import csv
import re
from dataclasses import replace

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
from tests.export.measured_home import MODEL, NASTY, TASK, export_job, questions
from tests.fakes.rows import metric, standing


@pytest.fixture(params=FORMS)
def export(request, home):
    """The folder and the form of an export."""
    FORMATS[request.param](export_job(home, home / "out"))
    return home / "out", request.param


def read_frame(folder, form, name):
    file = folder / f"{name}.{form}"
    if form == "csv":
        return pd.read_csv(file, dtype={"error": str})
    return pd.read_parquet(file) if form == "parquet" else pd.read_json(file, lines=True)


def test_every_table_is_exported(export):
    folder, _ = export
    names = {file.stem for file in folder.iterdir()}
    assert names == {"questions", "predictions", "judgements", "scores", "metrics", "leaderboard"}


@pytest.mark.parametrize("table", ["questions", "predictions", "judgements", "scores"])
def test_tables_of_questions_begin_with_the_task_and_the_question(export, table):
    folder, form = export
    frame = read_frame(folder, form, table)
    assert list(frame.columns[:3]) == ["task", "question_set", "question_id"]


def test_missing_numbers_are_read_as_missing(export):
    folder, form = export
    is_missing = read_frame(folder, form, "scores")["points"].isna()
    assert is_missing.tolist() == [False, False, True, False]
    overall, of_category = read_frame(folder, form, "metrics").to_dict("records")
    assert overall["value"] == pytest.approx(1 / 3)
    assert (overall["constant"], overall["shuffled"]) == (1.0, 0.25)
    assert pd.isna([of_category[name] for name in ("value", "constant", "shuffled")]).all()


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_text_formats_do_not_write_nan(home, form):
    FORMATS[form](export_job(home, home / "out"))
    assert b"nan" not in (home / f"out/metrics.{form}").read_bytes().lower()


@pytest.mark.parametrize(("condition", "n_rows"), [("main", 1), ("blind", 0)])
def test_the_leaderboard_belongs_to_the_main_condition(home, condition, n_rows):
    job = export_job(home, home / "out", TableFilter([TASK], conditions=[condition]))
    row = standing(metric(MODEL, 1.0, task="quiz"))
    FORMATS["jsonl"](replace(job, standings=lambda: [row]))
    assert (home / "out/leaderboard.jsonl").read_text().count("\n") == n_rows


@pytest.mark.parametrize("form", [form for form in FORMS if form != "csv"])
def test_texts_are_read_back_unchanged_whatever_they_begin_with(home, form):
    folder = home / "out"
    FORMATS[form](export_job(home, folder))
    frame = read_frame(folder, form, "questions")
    assert frame["text"][1] == f"What is 1? {NASTY}"
    assert frame["context"][1] == "@context"
    assert list(frame["options"][1]) == [NASTY, "- minus"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＠"])
def test_a_csv_cell_that_begins_like_a_formula_is_escaped(tmp_path, start):
    table = pa.table({"a": [f"{start}cmd|'/c calc'!A0", "1 = 1", "", None], "n": [-1.5, 2, 3, 4]})
    file = tmp_path / "a.csv"
    with file.open("wb") as output:
        writer = _Csv(output, table.schema)
        writer.write_table(table)
        writer.close()
    with file.open(newline="") as lines:
        first, *other_rows = csv.DictReader(lines)
    assert first == {"a": f"'{start}cmd|'/c calc'!A0", "n": "-1.5"}
    assert [row["a"] for row in other_rows] == ["1 = 1", "", ""]


def test_csv_distinguishes_an_empty_text_from_null(home):
    FORMATS["csv"](export_job(home, home / "out"))
    relation = duckdb.sql(
        "SELECT note, points"
        f" FROM read_csv('{home}/out/scores.csv', allow_quoted_nulls = false)"
        " WHERE question_id = 'quiz/2'"
    )
    assert relation
    assert relation.fetchall() == [("", None)]


def test_evaluations_of_other_questions_are_left_out_and_reported(home):
    TableFiles(folder=str(home / "tables")).write(
        ["quiz", "questions"], questions("published")[:3], Question
    )
    job = export_job(home, home / "out")
    FORMATS["jsonl"](job)
    assert (home / "out/predictions.jsonl").read_text() == ""
    assert job.collection.left_out == [f"quiz of {MODEL}: its questions have changed since"]


def test_a_damaged_table_is_reported_and_the_others_are_exported(home):
    (file,) = (home / "tables/quiz/judgements").iterdir()
    file.write_bytes(b"PAR1")
    job = export_job(home, home / "out")
    FORMATS["jsonl"](job)
    assert (home / "out/scores.jsonl").read_text().count("\n") == 4
    (line,) = job.collection.left_out
    assert str(file) in line


@pytest.mark.parametrize(
    ("table_filter", "nearest"),
    [
        pytest.param(TableFilter([TASK], models=["run/step-150"]), MODEL, id="a model"),
        pytest.param(TableFilter([TASK], conditions=["Main"]), "main", id="a condition"),
        pytest.param(TableFilter([TASK], editions=["minni"]), "mini", id="an edition"),
    ],
)
def test_an_unknown_name_is_an_error_with_the_nearest(home, table_filter, nearest):
    with pytest.raises(UnknownNameError, match=f"did you mean '{re.escape(nearest)}'"):
        export_job(home, home / "out", table_filter)


@pytest.mark.parametrize(
    "table", ["questions", "predictions", "judgements", "metrics", "leaderboard"]
)
def test_parquet_has_no_maps_and_no_empty_row_groups(home, table):
    """``datasets`` 5.2 reads neither."""
    FORMATS["parquet"](export_job(home, home / "out"))
    file = pq.ParquetFile(home / f"out/{table}.parquet")
    groups = [file.metadata.row_group(n) for n in range(file.metadata.num_row_groups)]
    assert 0 not in [group.num_rows for group in groups]
    assert not any(pa.types.is_map(field.type) for field in file.schema_arrow)


def test_labels_in_parquet_are_lists_of_keys_and_values(home):
    FORMATS["parquet"](export_job(home, home / "out"))
    first, *_ = pq.read_table(home / "out/questions.parquet").column("labels").to_pylist()
    assert first == [{"key": "level", "value": "hard"}]
