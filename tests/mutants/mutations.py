"""Small plausible faults in Python code: a comparison turned around, a number off by one, ..."""

import ast
from collections.abc import Callable, Iterator
from typing import TypeAlias

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is},
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult},
}

_NOT_RUN = {"annotation", "returns", "decorator_list", "type_params"}
_ONLY_COST = {"strict", "maxsize", "compress_level"}  # arguments that no right result depends on
_IN_ANY_ORDER = {  # functions whose arguments may stand in any order
    *("max", "min", "np.maximum", "np.minimum", "ImageChops.difference", "same_number"),
    *("isclose", "longest_common", "incomparable_causes"),
}
_LIMIT = 100  # from which a number that has a name of its own, or ends a slice, is one of many:
# a limit of length or memory, a seed, a number of draws. One more of them is no fault.

Change: TypeAlias = Callable[[], object]  # puts the fault in


def count(code: str) -> int:
    """How many faults can be put into a file."""
    return sum(1 for _ in _changes(ast.parse(code)))


def with_fault(code: str, number: int) -> str:
    """A file with one fault in it; comments are lost."""
    tree = ast.parse(code)
    list(_changes(tree))[number]()
    return ast.unparse(ast.fix_missing_locations(tree))


def plain(code: str) -> str:
    """The same file, as ``with_fault`` writes it."""
    return ast.unparse(ast.parse(code))


def _changes(tree: ast.AST) -> Iterator[Change]:
    """Every fault that can be put into a tree, in an order that depends on the tree alone."""
    for name, value in ast.iter_fields(tree):
        listed = value if isinstance(value, list) else [value]
        for number, node in enumerate(listed):
            if name in _NOT_RUN or not isinstance(node, ast.AST) or _only_tells(node):
                continue
            yield from _of_node(node)
            if isinstance(node, ast.stmt):
                yield from _of_statement(listed, number, node)
            yield from _changes(node)


def _only_tells(node: ast.AST) -> bool:
    """Whether a node is a message, a type, a limit, or what only our own mistakes run into."""
    return (
        isinstance(node, ast.Raise | ast.JoinedStr)
        or (isinstance(node, ast.keyword) and node.arg in _ONLY_COST)
        or _is_limit(node)
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        or (isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias")
    )


def _is_limit(node: ast.AST) -> bool:
    match node:
        case (
            ast.Slice(lower=None, upper=ast.Constant(value=int(number)))
            | ast.Assign(value=ast.Constant(value=int(number)))
        ):
            return number >= _LIMIT
    return False


def _of_node(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _COMPARISONS:
            yield _setting(node, "ops", [_COMPARISONS[type(operator)]()])
        case ast.BinOp() if type(node.op) in _OPERATORS and not _is_text(node):
            yield _setting(node, "op", _OPERATORS[type(node.op)]())
        case ast.BoolOp():
            yield _setting(node, "op", ast.And() if isinstance(node.op, ast.Or) else ast.Or())
        case ast.IfExp() | ast.If() | ast.While():
            yield _setting(node, "test", ast.UnaryOp(ast.Not(), node.test))
        case ast.Constant(value=bool(value)):
            yield _setting(node, "value", not value)
        case ast.Constant(value=int(value) | float(value)):
            yield _setting(node, "value", value + 1)
        case ast.Call(args=[first, second, *rest]) if _may_change_places(node, first, second):
            yield _setting(node, "args", [second, first, *rest])


def _may_change_places(call: ast.Call, first: ast.expr, second: ast.expr) -> bool:
    unpacked = any(isinstance(part, ast.Starred) for part in (first, second))
    in_any_order = ast.unparse(call.func) in _IN_ANY_ORDER
    return not (unpacked or in_any_order) and ast.dump(first) != ast.dump(second)


def _of_statement(body: list[ast.stmt], number: int, node: ast.stmt) -> Iterator[Change]:
    match node:
        case ast.If(orelse=[]) | ast.AugAssign() | ast.Continue() | ast.Expr(value=ast.Call()):
            yield lambda: body.__setitem__(number, ast.Pass())
        case ast.If():
            yield lambda: body.__setitem__(slice(number, number + 1), node.orelse)


def _setting(node: ast.AST, field: str, value: object) -> Change:
    return lambda: setattr(node, field, value)


def _is_text(node: ast.BinOp) -> bool:
    """Whether texts are joined or filled in; or types, as in ``int | None``."""
    sides = (node.left, node.right)
    return any(isinstance(side, ast.JoinedStr) or _is_str(side) for side in sides)


def _is_str(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
