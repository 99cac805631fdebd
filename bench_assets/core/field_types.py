"""Holds the fields of a record to the types that its class declares; Python itself does not."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def mistyped(record: "DataclassInstance") -> list[str]:
    """Find fields, and items of fields, that are of another type than they should be.

    A list passes for a tuple, and whatever can be called for a function.

    >>> from dataclasses import make_dataclass
    >>> mistyped(make_dataclass("Fridge", [("shelves", tuple[int, ...])])((1, "two")))
    ["shelves: 'two' is no int"]
    """
    hints = _hints(type(record))
    return [why for name in hints for why in _wrong(name, getattr(record, name), hints[name])]


@cache
def _hints(kind: "type[DataclassInstance]") -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _wrong(name: str, value: object, hint: Any) -> Iterator[str]:  # noqa: ANN401
    if not _fits(value, hint):
        yield f"{name}: expected {_said(hint)}, it is of type {type(value).__name__}"
    elif get_origin(hint) is Mapping and isinstance(value, Mapping):
        of_key, of_item = get_args(hint)
        one = name.removesuffix("s")
        yield from (f"{name}: {key!r} is no {_said(of_key)}" for key in value if _odd(key, of_key))
        for key, item in value.items():
            if _odd(item, of_item):
                said = type(item).__name__
                yield f"{one} {key!r}: expected {_said(of_item)}, it is of type {said}"
    elif get_origin(hint) is tuple and isinstance(value, tuple | list):
        (of_item, *_) = get_args(hint)
        yield from (f"{name}: {i!r} is no {_said(of_item)}" for i in value if _odd(i, of_item))


def _odd(value: object, hint: Any) -> bool:  # noqa: ANN401
    return not _fits(value, hint)


def _fits(value: object, hint: Any) -> bool:  # noqa: ANN401
    """Whether it is what a hint says, but for what is in it."""
    kind = get_origin(hint) or hint
    if kind in (UnionType, Union):
        return any(_fits(value, one) for one in get_args(hint))
    if kind is Literal:
        return any(value == one for one in get_args(hint))
    if kind is Callable:
        return callable(value)
    if kind is float:
        return isinstance(value, int | float)
    if kind is tuple:
        return isinstance(value, tuple | list)
    return kind is Any or isinstance(value, kind)


def _said(hint: Any) -> str:  # noqa: ANN401
    kind = get_origin(hint) or hint
    if kind in (UnionType, Union):
        return " or ".join(map(_said, get_args(hint)))
    if kind is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if kind is Callable:
        return "a function"
    said = {tuple: "a tuple", type: "a class", Mapping: "a mapping"}
    return said.get(kind, str(kind.__name__))
