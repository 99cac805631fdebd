"""Rows of Python are a benchmark: checked, stored and scored as a file of questions."""

import json
from datetime import date
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import bench_assets as bench


def is_red(images, prompt):
    return "yes" if images[0].getpixel((0, 0))[0] else "no"


def rows():
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
    result = bench.evaluate(facts, model=is_red)
    assert result.metrics.value.tolist()[0] == 1.0
    assert result.metrics.n_scored.tolist()[0] == 2


def test_bad_rows_are_rejections(home, tmp_path):
    png = BytesIO()
    Image.effect_noise((99, 99), 50).save(png, "PNG")
    cut = Image.open(BytesIO(png.getvalue()[:999]))
    bad = [{"q": "Which?", "image": image, "answer": "yes"} for image in ("gone.png", cut)]
    mixed = [*bad, *rows(), "Which?", {"q": {1}}]
    benchmark = bench.Benchmark(mixed, name="facts", columns={"question": "q"})
    assert len(bench.load(benchmark)) == 2
    written = benchmark.save(tmp_path).with_name("rows.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in (written[1], *written[4:])] == [
        "image file is truncated",
        "Which?",
        "rows, row 6, q: set is no text, number, list or image",
    ]


def test_cells_of_any_common_type_are_written(tmp_path):
    cells = {"n": np.int64(3), "x": np.array([1.5]), "none": float("nan"), "day": date(2026, 1, 2)}
    section = bench.Benchmark([cells], name="facts", shots_file="s.jsonl").save(tmp_path)
    (written,) = map(json.loads, (tmp_path / "rows.jsonl").read_text().splitlines())
    assert written == {"n": 3, "x": [1.5], "none": None, "day": "2026-01-02"}
    assert "[benchmarks.facts]" in section.read_text()
