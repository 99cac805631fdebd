"""Who reads JSON that others wrote reckons with all that Python raises for it.

A number of 4,301 digits is a ``ValueError`` that is no ``JSONDecodeError``, and lists in lists in
lists are a ``RecursionError``.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [file for part in ("bench_assets", "resources", "sensors") for file in
         sorted((ROOT / part).rglob("*.py"))]  # fmt: skip
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


@pytest.mark.parametrize(
    ("handler", "lines"),
    [("ValueError", [2]), ("(ValueError, RecursionError)", []), ("RecursionError", [2])],
)
def test_what_is_not_caught_is_found(handler, lines, tmp_path):
    (tmp_path / "a.py").write_text(f"try:\n    json.loads(x)\nexcept {handler}:\n    pass\n")
    assert uncaught(tmp_path / "a.py") == lines
