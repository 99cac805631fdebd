"""The code that docs/exports.md shows runs, where the other project is installed."""

import json
import re
from dataclasses import asdict
from math import isnan
from pathlib import Path

import pytest

from bench_assets.core.text.escaping import escape_formula
from bench_assets.export.formats import FORMATS
from tests.export.measured_home import MODEL, leaving

DOCUMENT = Path(__file__).parents[2] / "docs" / "exports.md"
SHOWN = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def at_home(home, monkeypatch):
    monkeypatch.chdir(home)
    return home


def test_every_form_stands_in_the_document():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [name for name in FORMATS if f"`{name}`" not in text] == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("number", "form", "package", "printed"),
    [
        pytest.param(0, "parquet", "pandas", MODEL, id="pandas"),
        pytest.param(1, "parquet", "duckdb", MODEL, id="DuckDB"),
        pytest.param(2, "lm-eval", "pytablewriter", "0.3333", id="lm-eval"),
    ],
)
def test_what_the_document_shows_runs(at_home, capsys, number, form, package, printed):
    pytest.importorskip(package, reason=f"{package} is not installed")
    FORMATS[form](leaving(at_home, at_home / "export" / form))
    exec(compile(SHOWN[number], DOCUMENT.name, "exec"), {})
    assert printed in capsys.readouterr().out


READERS = {"parquet": "parquet", "jsonl": "json", "csv": "csv"}
TABLES = ("questions", "predictions", "judgements", "scores", "metrics")


@pytest.fixture
def one(home):
    """The evaluation of the home, as exports take it."""
    (found,) = leaving(home, home / "out").collection.evaluations()
    return found


def in_form(value, form):
    """A field as the form has it: NaN is nothing; labels are pairs, lists of CSV are JSON."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, tuple | dict) and form == "csv":
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict) and form == "parquet":
        return [{"key": key, "value": entry} for key, entry in value.items()]
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("table", TABLES)
def test_datasets_loads_every_table_and_every_field_is_what_it_was(
    home, one, form, table, monkeypatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    FORMATS[form](leaving(home, home / "out"))
    file, cache = str(home / f"out/{table}.{form}"), str(home / "cache")
    options = {"keep_default_na": False, "na_values": {}} if form == "csv" else {}
    read = datasets.load_dataset(
        READERS[form], data_files=file, split="train", cache_dir=cache, **options
    )
    rows = one.exam.questions if table == "questions" else getattr(one, table)
    assert len(read) == len(rows)
    for found, row in zip(read, rows, strict=True):
        assert found.pop("question_set") == "main"
        for name, value in asdict(row).items():
            written, wanted = found.pop(name), in_form(value, form)
            if form == "csv" and not isinstance(wanted, str):  # which has texts alone
                nothing = ("", None)
                written = None if written in nothing else float(written)
            elif form == "csv":
                written, wanted = written or "", escape_formula(wanted)
            assert (written, name) == (wanted, name)
        assert found in ({}, {"task": "quiz"})
