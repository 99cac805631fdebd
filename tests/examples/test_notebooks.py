import ast
import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def run_cell(source, names):
    """Run a cell as a notebook does; returns the value of its last expression."""
    statements = ast.parse(source).body
    expression = None
    if isinstance(statements[-1], ast.Expr):
        expression = ast.Expression(statements.pop().value)
    exec(compile(ast.Module(statements, []), "<cell>", "exec"), names)
    return eval(compile(expression, "<cell>", "eval"), names) if expression else None


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=file.stem, marks=pytest.mark.long if "a_model" in file.stem else ())
        for file in NOTEBOOKS
    ],
)
def test_every_cell_runs_and_its_value_can_be_displayed(file, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    names = {"__name__": "__main__"}
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert sources
    for source in sources:
        value = run_cell(source, names)
        assert repr(value)
        if hasattr(value, "_repr_html_"):
            assert value._repr_html_().strip().startswith("<")
