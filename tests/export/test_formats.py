import json
import re
from dataclasses import asdict
from math import isnan
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.text.escaping import escape_formula
from bench_assets.export.formats import FORMATS
from bench_resources.tables.parquet import TableFiles
from tests.export.measured_home import MODEL, export_job, measure, questions

DOCUMENT = Path(__file__).parents[2] / "docs" / "exports.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def home_as_cwd(home, monkeypatch):
    monkeypatch.chdir(home)
    return home


def test_every_format_is_documented():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [name for name in FORMATS if f"`{name}`" not in text] == []


@pytest.mark.parametrize("export_format", ["lm-eval", "vlmeval"])
def test_models_that_would_share_a_folder_are_refused(home, export_format):
    other_model = MODEL.replace("/", "__")
    measure(TableFiles(folder=str(home / "tables")), questions("published"), other_model)
    with pytest.raises(SettingsError, match=f"{other_model} would be that of {MODEL} too"):
        FORMATS[export_format](export_job(home, home / "out"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("example", "export_format", "package", "expected_output"),
    [
        pytest.param(EXAMPLES[0], "parquet", "pandas", MODEL, id="pandas"),
        pytest.param(EXAMPLES[1], "parquet", "duckdb", MODEL, id="DuckDB"),
        pytest.param(EXAMPLES[2], "lm-eval", "pytablewriter", "0.3333", id="lm-eval"),
    ],
)
def test_examples_of_the_document_run(
    home_as_cwd, capsys, example, export_format, package, expected_output
):
    pytest.importorskip(package, reason=f"{package} is not installed")
    FORMATS[export_format](export_job(home_as_cwd, home_as_cwd / "export" / export_format))
    exec(compile(example, DOCUMENT.name, "exec"), {})
    assert expected_output in capsys.readouterr().out


READERS = {"parquet": "parquet", "jsonl": "json", "csv": "csv"}
TABLES = ("questions", "predictions", "judgements", "scores", "metrics")


@pytest.fixture
def evaluation(home):
    (evaluation,) = export_job(home, home / "out").collection.evaluations()
    return evaluation


def expected_field(value, export_format):
    """A field as `datasets` reads it from a format; CSV has no None and no empty text."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, tuple | dict) and export_format == "csv":
        return escape_formula(json.dumps(value, ensure_ascii=False))
    if isinstance(value, dict) and export_format == "parquet":
        return [{"key": key, "value": text} for key, text in value.items()]
    if isinstance(value, str) and export_format == "csv":
        return escape_formula(value)
    return list(value) if isinstance(value, tuple) else value


def parse_csv_field(text, value_type):
    """A field of CSV, which has texts alone, as a value of the type of the exported one."""
    if value_type is str:
        return text or ""
    return None if text in ("", None) else float(text)


@pytest.mark.parametrize("export_format", READERS)
@pytest.mark.parametrize("table", TABLES)
def test_datasets_loads_every_field(home, evaluation, export_format, table, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    FORMATS[export_format](export_job(home, home / "out"))
    options = {"keep_default_na": False, "na_values": {}} if export_format == "csv" else {}
    loaded_rows = datasets.load_dataset(
        READERS[export_format],
        data_files=str(home / f"out/{table}.{export_format}"),
        split="train",
        cache_dir=str(home / "cache"),
        **options,
    )
    rows = (
        evaluation.question_table.questions if table == "questions" else getattr(evaluation, table)
    )
    assert len(loaded_rows) == len(rows)
    for loaded, row in zip(loaded_rows, rows, strict=True):
        assert loaded.pop("question_set") == "main"
        for name, value in asdict(row).items():
            expected, field = expected_field(value, export_format), loaded.pop(name)
            if export_format == "csv":
                field = parse_csv_field(field, type(expected))
            assert (field, name) == (expected, name)
        assert loaded in ({}, {"task": "quiz"})
