import json
import tomllib
from datetime import date
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import bench_assets as bench
from bench_assets.core.schema.errors import SettingsError
from tests.fakes.written_images import saved


def answer_by_colour(images, prompt):
    return "yes" if images[0].getpixel((0, 0))[0] else "no"


def rows():
    """Two rows with images in memory."""
    colours = {"red": "yes", "blue": "no"}
    return [
        {"q": f"Is {colour} red?", "image": Image.new("RGB", (4, 4), colour), "answer": answer}
        for colour, answer in colours.items()
    ]


@pytest.mark.parametrize("form", [pd.DataFrame, iter], ids=["frame", "iterator"])
def test_rows_with_images_are_evaluated(home, form):
    facts = bench.Benchmark(
        form(rows()), name="facts", columns={"question": "q"}, answer_type="yes_no"
    )
    result = bench.evaluate(facts, model=answer_by_colour)
    overall = result.metrics.iloc[0]
    assert (overall.value, overall.n_scored) == (1.0, 2)


@pytest.fixture
def benchmark_with_bad_rows():
    """Rows: three with unusable images, two good ones, a text instead of a row, a set in a cell."""
    cut = Image.open(BytesIO(saved(Image.effect_noise((99, 99), 50))[:999]))
    empty = Image.new("RGB", (0, 4))
    bad = [{"q": "Which?", "image": image, "answer": "yes"} for image in ("gone.png", cut, empty)]
    mixed = [*bad, *rows(), "Which?", {"q": {1}}]
    return bench.Benchmark(mixed, name="facts", columns={"question": "q"})


def test_bad_rows_are_left_out(home, benchmark_with_bad_rows):
    assert len(bench.load(benchmark_with_bad_rows)) == 2


def test_bad_rows_are_saved_as_their_fault(benchmark_with_bad_rows, tmp_path):
    file = benchmark_with_bad_rows.save(tmp_path).with_name("rows.jsonl")
    _, cut, empty, _, _, no_row, no_type = map(json.loads, file.read_text().splitlines())
    assert cut == "image file is truncated"
    assert isinstance(empty, str)  # the words are Pillow's
    assert no_row == "Which?"
    assert no_type == "rows, row 7, q: set is no text, number, list or image"


def test_cells_of_common_types_are_saved_as_json(tmp_path):
    cells = {"n": np.int64(3), "x": np.array([1.5]), "none": float("nan"), "day": date(2026, 1, 2)}
    bench.Benchmark([cells], name="facts").save(tmp_path)
    (row,) = map(json.loads, (tmp_path / "rows.jsonl").read_text().splitlines())
    assert row == {"n": 3, "x": [1.5], "none": None, "day": "2026-01-02"}


@pytest.mark.parametrize(
    ("arguments", "expected_message"),
    [
        pytest.param({"name": "Some facts"}, "'Some facts': name: expected letters", id="a name"),
        pytest.param({"name": "facts", "file": "a.csv"}, "facts: expected no setting", id="a file"),
        pytest.param({"name": "facts", "columns": {1, 2}}, "facts: .*set is not", id="a set"),
    ],
)
def test_an_invalid_benchmark_is_not_saved(tmp_path, arguments, expected_message):
    with pytest.raises(SettingsError, match=expected_message):
        bench.Benchmark(rows(), **arguments).save(tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


def test_a_setting_of_none_is_left_out(tmp_path):
    file = bench.Benchmark([], name="facts", answer_type=None).save(tmp_path)
    assert "answer_type" not in file.read_text()


def test_a_path_is_saved_as_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = bench.Benchmark([], name="facts", shots_file="s.jsonl").save(tmp_path / "folder")
    section = tomllib.loads(file.read_text())["benchmarks"]["facts"]
    assert section["shots_file"] == str(tmp_path / "s.jsonl")
