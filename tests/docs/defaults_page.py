"""The page of numbers that stand in the code, generated from its constants.

``python -m tests.docs.defaults_page`` writes docs/defaults.md.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.docs.blocks import CHECKOUT

PAGE = CHECKOUT / "docs" / "defaults.md"
_PACKAGES = ("bench_assets", "resources/bench_resources", "sensors/bench_sensors")
_TOP = """\
# Numbers in the code

The tables list the constants of modules whose value is a number, or a calculation with numbers.
The file is below the folder in the heading. The meaning is the comment in the code: a number
without a unit is what the comment names, or counts it; *s* is seconds and *px* is pixels. Sections
and tables in brackets are those of the paper of the suite. A name that begins with `_` is private
to its module. Numbers that a user may want to change are [settings](settings.md).

This page is generated from the code (`python -m tests.docs.defaults_page`).
"""


class Constant(NamedTuple):
    """A number with a name."""

    name: str
    value: str
    comment: str  # beside it, above it, or its docstring


def constants(file: Path) -> Iterator[Constant]:
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    body = ast.parse(text).body
    for statement, following in zip(body, [*body[1:], None], strict=True):
        own_lines = lines[statement.lineno - 1 : statement.end_lineno]
        commented_line = next((line for line in own_lines if "  # " in line), "")
        line_above = lines[statement.lineno - 2] if statement.lineno > 1 else ""
        for target, value in _assignments(statement):
            is_constant = isinstance(target, ast.Name) and target.id.strip("_").isupper()
            if is_constant and _is_number(value):
                comment = _comment(commented_line, line_above, following)
                yield Constant(ast.unparse(target), ast.unparse(value), comment)


def _assignments(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """Return targets with their values, of which ``A, B = 1, 2`` has two."""
    if isinstance(statement, ast.AnnAssign) and statement.value:
        return [(statement.target, statement.value)]
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return []
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _is_number(value: ast.expr) -> bool:
    """Whether an expression is a number, or a calculation with numbers."""
    if isinstance(value, ast.BinOp):
        return _is_number(value.left) and _is_number(value.right)
    if isinstance(value, ast.UnaryOp):
        return _is_number(value.operand)
    return (
        isinstance(value, ast.Constant)
        and isinstance(value.value, int | float)
        and not isinstance(value.value, bool)
    )


def _comment(line: str, line_above: str, following: ast.stmt | None) -> str:
    """The comment in a line, else the docstring below the constant, else the comment above it."""
    _, mark, comment = line.partition("  # ")
    if mark:
        return comment.strip()
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        return str(following.value.value).splitlines()[0]
    return line_above[2:].strip() if line_above.startswith("# ") else ""


def page() -> str:
    """The text of the page: a table for each folder of a package, a row for each number."""
    text = _TOP
    for package in _PACKAGES:
        rows_by_folder: dict[str, list[str]] = {}
        for file in sorted((CHECKOUT / package).rglob("*.py")):
            path = file.relative_to(CHECKOUT / package)
            folder = "/".join([package, *path.parts[:-1][:1]])
            name = "/".join(path.parts[1:]) or str(path)
            rows = [_row(name, constant) for constant in constants(file)]
            rows_by_folder.setdefault(folder, []).extend(rows)
        for folder, rows in rows_by_folder.items():
            if rows:
                header = "| file | name | value | meaning, with its unit |\n|---|---|---|---|\n"
                text += f"\n## {folder}\n\n{header}{''.join(rows)}"
    return text


def _row(file_name: str, constant: Constant) -> str:
    comment = constant.comment.replace("|", r"\|")
    return f"| {file_name} | `{constant.name}` | {constant.value} | {comment} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
