"""A home with a benchmark of four questions, for the Python interface."""

import json

import pytest
from PIL import Image

TOML = """
[benchmarks.fridge]
file = "fridge/questions.jsonl"
"""
QUESTIONS = [
    {
        "id": str(number),
        "question": f"Which colour is square {number}?",
        "options": ["red", "blue"],
        "answer": answer,
        "images": [f"{'red' if answer == 'A' else 'blue'}.png"],
        "category": category,
    }
    for number, (answer, category) in enumerate(
        [("A", "one"), ("B", "one"), ("A", "two"), ("B", "two")]
    )
]


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    (folder / "fridge").mkdir(parents=True)
    (folder / "bench.toml").write_text(TOML)
    for colour in ("red", "blue"):
        Image.new("RGB", (32, 32), colour).save(folder / "fridge" / f"{colour}.png")
    lines = "\n".join(map(json.dumps, QUESTIONS))
    (folder / "fridge" / "questions.jsonl").write_text(lines)
    monkeypatch.setenv("BENCH_HOME", str(folder))
    return folder
