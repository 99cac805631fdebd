"""The notebooks in examples/ run from the first cell to the last, in a fresh home."""

import ast
import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def run_cell(source, names):
    """Run a cell as a notebook does; returns the value of its last expression."""
    *before, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        before, last = [*before, last], None
    exec(compile(ast.Module(before, []), "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(one, id=one.stem, marks=pytest.mark.long if "a_model" in one.stem else ())
        for one in NOTEBOOKS
    ],
)
def test_every_cell_runs_and_what_it_shows_can_be_shown(file, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    names = {"__name__": "__main__"}
    shown = [
        run_cell("".join(cell["source"]), names)
        for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    for value in shown:
        if hasattr(value, "_repr_html_"):
            assert value._repr_html_().strip().startswith("<")
        assert repr(value)
