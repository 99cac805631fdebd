import json
import shutil

import pytest
from PIL import Image

import bench_assets as bench
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings

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


@pytest.fixture(scope="session")
def built_home(tmp_path_factory):
    """A home whose questions are built, to be copied."""
    folder = tmp_path_factory.mktemp("built_home") / "home"
    (folder / "fridge").mkdir(parents=True)
    (folder / "bench.toml").write_text(TOML)
    for colour in ("red", "blue"):
        Image.new("RGB", (32, 32), colour).save(folder / "fridge" / f"{colour}.png")
    lines = "\n".join(map(json.dumps, QUESTIONS))
    (folder / "fridge" / "questions.jsonl").write_text(lines)
    with Workbench(load_settings(folder), ["fridge"]) as workbench:
        workbench.refresh_questions("fridge")
    return folder


@pytest.fixture(scope="session")
def home_with_run(built_home, tmp_path_factory):
    """A home with a complete run of a function that always returns A, and that run."""
    folder = shutil.copytree(built_home, tmp_path_factory.mktemp("run") / "home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(folder))
        return folder, bench.evaluate("fridge", model=lambda images, prompt: "A", name="says-a")


@pytest.fixture
def run(home_with_run, monkeypatch):
    """That run, in its home; tests must not change it."""
    folder, run = home_with_run
    monkeypatch.setenv("BENCH_HOME", str(folder))
    return run


@pytest.fixture
def home(built_home, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return shutil.copytree(built_home, tmp_path / "home")
