"""The structure of the product: folders, class names and errors.

Who reads JSON that others wrote reckons with all that Python raises for it: a number of 4,301
digits is a ``ValueError`` that is no ``JSONDecodeError``, lists in lists in lists are a
``RecursionError``.

``python -m tests.test_structure`` writes the table of packages into bench_assets/README.md.
"""

import ast
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAP = ROOT / "bench_assets" / "README.md"
TOP = ("bench_assets", "resources", "sensors")
FILES = [file for top in TOP for file in sorted((ROOT / top).rglob("*.py"))]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def layers(package: Path) -> list[str]:
    """The packages of a folder, from the top layer to the bottom, as import-linter has them."""
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    (contract,) = (part for part in contracts if part.get("containers") == [package.name])
    names = [name for layer in contract["layers"] for name in layer.split(" | ")]
    return [name for name in names if (package / name).is_dir()]


LAYERS = layers(ROOT / "bench_assets")
RESOURCES = layers(ROOT / "resources" / "bench_resources")
START, END = "<!-- packages: python -m tests.test_structure -->\n", "<!-- end -->"


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


def test_every_package_has_a_sentence():
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


RAISED = {"ValueError", "RecursionError"}
WHO_CALLS_CATCHES = {
    "bench_assets/core/reading/json_values.py",
    "bench_assets/workspace/evaluate/second_process.py",
    "resources/bench_resources/annotation/web/signed_links.py",
    "resources/bench_resources/models/api/formats/response_body.py",
    "resources/bench_resources/redaction/records.py",
    "sensors/bench_sensors/checkpoints.py",
    "sensors/bench_sensors/webhook.py",
}
"""Where the calling function does, or what is read is what we wrote a moment before."""


def uncaught(file):
    """Lines of ``json.loads`` with nothing around that catches both; of our own files excepted."""
    text = file.read_text(encoding="utf-8")
    if "json.load" not in text:
        return []
    tree = ast.parse(text)
    whole = {id(inner) for one in ast.walk(tree) if isinstance(one, ast.Try | ast.With)
             if caught(one) >= RAISED for part in one.body
             for inner in ast.walk(part)}  # fmt: skip
    return [one.lineno for one in ast.walk(tree) if isinstance(one, ast.Call)
            if isinstance(one.func, ast.Attribute) and id(one) not in whole
            if ast.unparse(one.func) in ("json.loads", "json.load")
            if "__file__" not in ast.unparse(one)]  # fmt: skip


def caught(one):
    """Names of what a ``try`` catches, or a ``with suppress(...)`` leaves out."""
    kinds = [item.context_expr for item in one.items] if isinstance(one, ast.With) else [
        handler.type for handler in one.handlers if handler.type]  # fmt: skip
    return {name.id for kind in kinds for name in ast.walk(kind) if isinstance(name, ast.Name)}


@pytest.mark.parametrize("part", ["bench_assets", "resources", "sensors"])
def test_whoever_reads_json_catches_both(part):
    found = {
        f"{name}:{line}"
        for file in FILES
        if (name := file.relative_to(ROOT).as_posix()).startswith(part)
        and name not in WHO_CALLS_CATCHES
        and "/synthetic" not in name
        for line in uncaught(file)
    }
    assert found == set()


if __name__ == "__main__":
    whole = MAP.read_text(encoding="utf-8")
    before, _, rest = whole.partition(START)
    MAP.write_text(before + START + table() + END + rest.partition(END)[2], encoding="utf-8")
