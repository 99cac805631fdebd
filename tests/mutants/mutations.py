"""Small plausible faults in Python code, such as a number that is off by one."""

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

_NOT_EXECUTED = {"annotation", "returns", "decorator_list", "type_params"}
_ONLY_COST = {"strict", "maxsize", "compress_level"}  # arguments that no right result depends on
_IN_ANY_ORDER = {  # functions whose arguments may stand in any order
    *("max", "min", "np.maximum", "np.minimum", "ImageChops.difference", "same_number"),
    *("isclose", "longest_common", "incomparable_causes"),
}
# A larger number that has a name, or ends a slice, is a limit of length or memory, a seed or a
# number of draws: one more of them is no fault.
_LIMIT = 100

Change: TypeAlias = Callable[[], object]  # inserts the fault into the tree


def count_faults(code: str) -> int:
    """The number of faults that can be put into code."""
    return sum(1 for _ in _changes(ast.parse(code)))


def insert_fault(code: str, number: int) -> str:
    """Insert one fault into code, and remove the comments."""
    tree = ast.parse(code)
    list(_changes(tree))[number]()
    return ast.unparse(ast.fix_missing_locations(tree))


def normalized(code: str) -> str:
    """Code without a fault, formatted as ``insert_fault`` does."""
    return ast.unparse(ast.parse(code))


def _changes(tree: ast.AST) -> Iterator[Change]:
    """Every fault that can be put into a tree, in an order that depends on the tree alone."""
    for name, value in ast.iter_fields(tree):
        nodes = value if isinstance(value, list) else [value]
        for index, node in enumerate(nodes):
            if name in _NOT_EXECUTED or not isinstance(node, ast.AST) or _is_left_alone(node):
                continue
            yield from _expression_changes(node)
            if isinstance(node, ast.stmt):
                yield from _statement_changes(nodes, index, node)
            yield from _changes(node)


def _is_left_alone(node: ast.AST) -> bool:
    """Whether a fault in a node changes no result: in a message, a type, a limit or a raise."""
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


def _expression_changes(node: ast.AST) -> Iterator[Change]:
    """Turn an operator or a condition around, change a constant, or swap arguments."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _COMPARISONS:
            yield _set_field(node, "ops", [_COMPARISONS[type(operator)]()])
        case ast.BinOp() if type(node.op) in _OPERATORS and not _is_text(node):
            yield _set_field(node, "op", _OPERATORS[type(node.op)]())
        case ast.BoolOp():
            yield _set_field(node, "op", ast.And() if isinstance(node.op, ast.Or) else ast.Or())
        case ast.IfExp() | ast.If() | ast.While():
            yield _set_field(node, "test", ast.UnaryOp(ast.Not(), node.test))
        case ast.Constant(value=bool(value)):
            yield _set_field(node, "value", not value)
        case ast.Constant(value=int(value) | float(value)):
            yield _set_field(node, "value", value + 1)
        case ast.Call(args=[first, second, *rest]) if _may_swap(node, first, second):
            yield _set_field(node, "args", [second, first, *rest])


def _may_swap(call: ast.Call, first: ast.expr, second: ast.expr) -> bool:
    is_unpacked = any(isinstance(part, ast.Starred) for part in (first, second))
    in_any_order = ast.unparse(call.func) in _IN_ANY_ORDER
    return not (is_unpacked or in_any_order) and ast.dump(first) != ast.dump(second)


def _statement_changes(body: list[ast.stmt], index: int, node: ast.stmt) -> Iterator[Change]:
    """Leave out a statement, or the condition of an ``if`` with an ``else``."""
    match node:
        case ast.If(orelse=[]) | ast.AugAssign() | ast.Continue() | ast.Expr(value=ast.Call()):
            yield lambda: body.__setitem__(index, ast.Pass())
        case ast.If():
            yield lambda: body.__setitem__(slice(index, index + 1), node.orelse)


def _set_field(node: ast.AST, field: str, value: object) -> Change:
    return lambda: setattr(node, field, value)


def _is_text(node: ast.BinOp) -> bool:
    """Whether an operator joins or formats texts."""
    sides = (node.left, node.right)
    return any(isinstance(side, ast.JoinedStr) or _is_str(side) for side in sides)


def _is_str(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
