"""The structure of the product: packages, class names and errors of JSON.

JSON that others wrote can raise more than a ``JSONDecodeError``: a number of 4,301 digits raises
a ``ValueError``, deeply nested lists raise a ``RecursionError``.

``python -m tests.test_structure`` writes the table of packages into bench_assets/README.md.
"""

import ast
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAP = ROOT / "bench_assets" / "README.md"
ROOT_FOLDERS = ("bench_assets", "resources", "sensors")
FILES = [file for folder in ROOT_FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def read_layers(package: Path) -> list[str]:
    """Subpackages from the top layer to the bottom, of the contract for import-linter."""
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    (contract,) = (c for c in contracts if c.get("containers") == [package.name])
    names = [name for layer in contract["layers"] for name in layer.split(" | ")]
    return [name for name in names if (package / name).is_dir()]


LAYERS = read_layers(ROOT / "bench_assets")
RESOURCES = read_layers(ROOT / "resources" / "bench_resources")
START, END = "<!-- packages: python -m tests.test_structure -->\n", "<!-- end -->"


def first_sentence(package: Path) -> str:
    """The first line of a package's docstring."""
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")))
    return (text or "").partition("\n")[0]


def list_packages() -> list[str]:
    """Folders of the packages, from the top layer to the bottom."""
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    (layers,) = (c["layers"] for c in contracts if c["name"] == "Layers")
    folders = []
    for module in " | ".join(layers).split(" | "):
        if module == "bench_resources":
            folders += [f"resources/bench_resources/{name}" for name in RESOURCES]
        elif module == "bench_sensors":
            folders.append("sensors/bench_sensors")
        else:
            folders.append(module.replace(".", "/"))
    return [folder for folder in folders if (ROOT / folder).is_dir()]


def package_table() -> str:
    """The Markdown table of the packages, with the first lines of their docstrings."""
    rows = [f"| `{folder}` | {first_sentence(ROOT / folder)} |" for folder in list_packages()]
    return "\n".join(["| package | contents |", "|---|---|", *rows]) + "\n"


def test_the_readme_lists_every_package_with_its_docstring():
    text = MAP.read_text(encoding="utf-8")
    assert f"{START}{package_table()}{END}" in text, "python -m tests.test_structure"


def test_the_map_has_at_most_sixty_lines():
    assert len(MAP.read_text(encoding="utf-8").splitlines()) <= 60


def test_every_package_has_a_docstring():
    packages = {file.parent for file in FILES}
    assert [str(p) for p in packages if not first_sentence(p).endswith((".", ")"))] == []


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


JSON_ERRORS = {"ValueError", "RecursionError"}
CAUGHT_BY_CALLERS = {  # or what is read was written by ourselves a moment before
    "bench_assets/core/reading/json_values.py",
    "bench_assets/workspace/evaluate/second_process.py",
    "resources/bench_resources/annotation/web/signed_links.py",
    "resources/bench_resources/models/api/formats/response_body.py",
    "resources/bench_resources/redaction/records.py",
    "sensors/bench_sensors/checkpoints.py",
    "sensors/bench_sensors/webhook.py",
}


def caught_errors(block):
    """Names of the errors that a ``try`` catches, or a ``with suppress(...)`` ignores."""
    if isinstance(block, ast.With):
        expressions = [item.context_expr for item in block.items]
    else:
        expressions = [handler.type for handler in block.handlers if handler.type]
    nodes = [node for expression in expressions for node in ast.walk(expression)]
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def guarded_nodes(tree):
    """Ids of the nodes inside a block that catches all of ``JSON_ERRORS``."""
    ids = set[int]()
    for block in ast.walk(tree):
        if isinstance(block, ast.Try | ast.With) and caught_errors(block) >= JSON_ERRORS:
            for statement in block.body:
                ids.update(map(id, ast.walk(statement)))
    return ids


def unguarded_lines(file):
    """Lines of ``json.load`` whose errors are not caught; those of files beside it excepted."""
    text = file.read_text(encoding="utf-8")
    if "json.load" not in text:
        return []
    tree = ast.parse(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    json_calls = [call for call in calls if ast.unparse(call.func) in ("json.loads", "json.load")]
    guarded = guarded_nodes(tree)
    return [
        call.lineno
        for call in json_calls
        if id(call) not in guarded and "__file__" not in ast.unparse(call)
    ]


@pytest.mark.parametrize("folder", ROOT_FOLDERS)
def test_errors_of_json_are_caught_where_it_is_read(folder):
    places = []
    for file in FILES:
        name = file.relative_to(ROOT).as_posix()
        is_exempt = name in CAUGHT_BY_CALLERS or "/synthetic" in name
        if name.startswith(folder) and not is_exempt:
            places += [f"{name}:{line}" for line in unguarded_lines(file)]
    assert places == []


if __name__ == "__main__":
    head, _, rest = MAP.read_text(encoding="utf-8").partition(START)
    _, _, tail = rest.partition(END)
    MAP.write_text(f"{head}{START}{package_table()}{END}{tail}", encoding="utf-8")
