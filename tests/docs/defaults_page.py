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

What a user may want to change is a [setting](settings.md). A number of a paper stands in
`settings.py` of its suite, or beside its method, with the section. The table below lists the
numbers that are constants of modules; defaults of parameters stand in the functions. Generated
(`python -m tests.docs.defaults_page`).
"""


class Constant(NamedTuple):
    """A number with a name."""

    name: str
    value: str
    comment: str  # beside it, above it, or its docstring


def constants(file: Path) -> Iterator[Constant]:
    """The numbers among the module's constants."""
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    body = ast.parse(text).body
    for statement, following in zip(body, [*body[1:], None], strict=True):
        own_lines = lines[statement.lineno - 1 : statement.end_lineno]
        line = next((line for line in own_lines if "  # " in line), "")
        above = lines[statement.lineno - 2] if statement.lineno > 1 else ""
        for target, value in _assignments(statement):
            is_constant = isinstance(target, ast.Name) and target.id.strip("_").isupper()
            if is_constant and _is_number(value):
                comment = _comment(line, above, following)
                yield Constant(ast.unparse(target), ast.unparse(value), comment)


def _assignments(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """Targets with their values; ``A, B = 1, 2`` has two."""
    if isinstance(statement, ast.AnnAssign) and statement.value:
        return [(statement.target, statement.value)]
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return []
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _is_number(value: ast.expr) -> bool:
    """Whether it is a number, or a calculation with numbers."""
    if isinstance(value, ast.BinOp):
        return _is_number(value.left) and _is_number(value.right)
    if isinstance(value, ast.UnaryOp):
        return _is_number(value.operand)
    return (
        isinstance(value, ast.Constant)
        and isinstance(value.value, int | float)
        and not isinstance(value.value, bool)
    )


def _comment(line: str, above: str, following: ast.stmt | None) -> str:
    _, mark, comment = line.partition("  # ")
    if mark:
        return comment.strip()
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        return str(following.value.value).splitlines()[0]
    return above[2:].strip() if above.startswith("# ") else ""


def page() -> str:
    """The page: a table for each package, a row for each number."""
    sections = []
    for package in _PACKAGES:
        folders: dict[str, list[str]] = {}
        for file in sorted((CHECKOUT / package).rglob("*.py")):
            path = file.relative_to(CHECKOUT / package)
            rows = folders.setdefault("/".join([package, *path.parts[:-1][:1]]), [])
            rows += [
                f"| {'/'.join(path.parts[1:]) or path} | `{constant.name}` |"
                f" {constant.value} | {constant.comment.replace('|', chr(92) + '|')} |"
                for constant in constants(file)
            ]
        sections += [(folder, rows) for folder, rows in folders.items() if rows]
    tables = [
        f"\n## {folder}\n\n| file | name | value | unit, reason |\n|---|---|---|---|\n"
        + "".join(f"{row}\n" for row in rows)
        for folder, rows in sections
    ]
    return "".join([_TOP, *tables])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
