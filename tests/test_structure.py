"""The structure of the product: folders, class names, and the words that a maintainer greps.

``python -m tests.test_structure`` writes the table of packages into bench_assets/README.md.
"""

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAP = ROOT / "bench_assets" / "README.md"
TOP = ("bench_assets", "resources", "sensors")
FILES = [file for top in TOP for file in sorted((ROOT / top).rglob("*.py"))]
LAYERS = [
    "annotate",
    "audit",
    "bundles",
    "export",
    "external_results",
    "cli",
    "python_api",
    "workspace",
    "defs",
    "report",
    "comparison",
    "suites",
    "file_benchmarks",
    "asset_factory",
    "evaluation",
    "annotation",
    "core",
]
RESOURCES = [
    "cluster",
    "annotation",
    "encoders",
    "models",
    "datasets",
    "images",
    "redaction",
    "runs",
    "http",
    "config",
    "checkpoints",
    "response_cache",
    "tables",
    "storage",
]
START, END = "<!-- packages: python -m tests.test_structure -->\n", "<!-- end -->"
FINDABLE = (
    "contamination", "position bias", "inter-annotator agreement", "rate limit", "orphaned run",
    "watchdog", "item response theory", "redaction", "checksum", "jackknife", "bootstrap",
    "backoff",
)  # fmt: skip
GONE = (
    *("picture_hash", "soundness", "ReplyStore", "PeopleError", "SuiteForm"),
    *("bench_assets.bench", "resources.replies"),
)


def sentence(package: Path) -> str:
    """The first line of a package's docstring."""
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")))
    return (text or "").partition("\n")[0]


def table() -> str:
    """The packages, one row each, from their docstrings."""
    folders = [f"bench_assets/{name}" for name in LAYERS]
    folders[8:8] = ["sensors/bench_sensors"]
    folders += [f"resources/bench_resources/{name}" for name in RESOURCES]
    rows = [f"| `{folder}` | {sentence(ROOT / folder)} |" for folder in folders]
    return "\n".join(["| package | contents |", "|---|---|", *rows]) + "\n"


def test_the_map_lists_every_package_with_its_sentence():
    text = MAP.read_text(encoding="utf-8")
    assert text.partition(START)[2].partition(END)[0] == table(), "python -m tests.test_structure"
    assert len(text.splitlines()) <= 60


def test_every_package_is_on_the_map_and_has_a_sentence():
    assert {one.parent.name for one in ROOT.glob("bench_assets/*/__init__.py")} == {*LAYERS}
    assert {one.parent.name for one in ROOT.glob("resources/bench_resources/*/__init__.py")} == {
        *RESOURCES
    }
    packages = {file.parent for file in FILES}
    assert [str(one) for one in packages if not sentence(one).endswith((".", ")"))] == []


def test_no_folder_has_more_than_sixteen_files():
    crowded = Counter(file.parent for file in FILES if file.name != "__init__.py")
    assert {str(folder): n for folder, n in crowded.items() if n > 16} == {}


def test_class_names_are_unique():
    names = Counter(
        node.name
        for file in FILES
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, n in names.items() if n > 1] == []


@pytest.mark.parametrize("word", FINDABLE)
def test_a_term_of_the_field_is_found_by_grep(word):
    spellings = {word, word.replace(" ", "_"), word.replace("-", "_").replace(" ", "_")}
    texts = (f"{file}\n{file.read_text(encoding='utf-8')}".casefold() for file in FILES)
    assert any(spelling in text for text in texts for spelling in spellings)


@pytest.mark.parametrize("word", GONE)
def test_a_word_that_was_replaced_is_gone(word):
    assert [str(file) for file in FILES if word in file.read_text(encoding="utf-8")] == []


def test_who_compares_with_a_golden_file_is_marked(request, golden):
    assert request.node.get_closest_marker("golden")


def test_who_does_not_is_not_marked(request):
    assert not request.node.get_closest_marker("golden")


if __name__ == "__main__":
    whole = MAP.read_text(encoding="utf-8")
    before, _, rest = whole.partition(START)
    MAP.write_text(before + START + table() + END + rest.partition(END)[2], encoding="utf-8")
