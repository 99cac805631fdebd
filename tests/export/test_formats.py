"""The code that docs/exports.md shows runs, where the other project is installed."""

import re
from pathlib import Path

import pytest

from bench_assets.export.formats import FORMATS
from tests.export.measured_home import MODEL, leaving

DOCUMENT = Path(__file__).parents[2] / "docs" / "exports.md"
SHOWN = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def at_home(shown, monkeypatch):
    monkeypatch.chdir(shown)
    return shown


def test_every_form_stands_in_the_document():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [name for name in FORMATS if f"`{name}`" not in text] == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("number", "form", "package", "printed"),
    [
        pytest.param(0, "parquet", "pandas", MODEL, id="pandas"),
        pytest.param(1, "parquet", "duckdb", MODEL, id="DuckDB"),
        pytest.param(3, "inspect", "inspect_ai", f"quiz {MODEL}", id="Inspect"),
        pytest.param(4, "lm-eval", "pytablewriter", "0.3333", id="lm-eval"),
    ],
)
def test_what_the_document_shows_runs(at_home, capsys, number, form, package, printed):
    pytest.importorskip(package, reason=f"{package} is not installed")
    FORMATS[form].write(leaving(at_home, at_home / "export" / form))
    exec(compile(SHOWN[number], DOCUMENT.name, "exec"), {})
    assert printed in capsys.readouterr().out


def test_an_index_is_put_on_a_card_as_the_document_shows(home, monkeypatch):
    monkeypatch.chdir(home)
    index = Path("export/model-index")
    index.mkdir(parents=True)
    Path("README.md").write_text("---\nlicense: mit\n---\nA model.\n", encoding="utf-8")
    (index / "my-model.yml").write_text(
        "model-index:\n- name: m\n  results:\n  - task: {type: t}\n"
        "    dataset: {type: d, name: d}\n"
        "    metrics: [{type: accuracy, value: 0.5, verified: false}]\n",
        encoding="utf-8",
    )
    exec(compile(SHOWN[2], DOCUMENT.name, "exec"), {})
    card = Path("README.md").read_text(encoding="utf-8")
    assert "license: mit" in card
    assert "value: 0.5" in card
    assert card.endswith("A model.\n")
