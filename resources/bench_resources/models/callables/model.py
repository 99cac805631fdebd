"""A Python function ``(images, prompt) -> text`` as a model.

Its responses are cached by the caller's name for it and the function's code. Objects that the
function uses, such as weights, are not part of the key.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import chain
from types import CodeType, MappingProxyType
from typing import Any
from uuid import uuid4

from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.models import FUNCTION_FACTORY, PythonSpec
from bench_resources.models.registry.function_model import (
    FunctionModel,
    ModelFunction,
    OpenImage,
    check_function,
    function_name,
)
from bench_resources.models.registry.named_models import ResolvedModel

_DIGITS = 12
_functions: dict[str, ModelFunction] = {}
"""Functions of this process by model name, because settings can only hold the name."""


def resolve_function(
    function: ModelFunction, name: str = "", entries: Mapping[str, object] = MappingProxyType({})
) -> ResolvedModel:
    """A function as a model; without a name, under one that is never used again.

    ``entries`` are added to its section.

    Raises:
        SettingsError: If it is no such function.
    """
    check_function(function)
    name = name or f"{function_name(function)}@{uuid4().hex[:8]}"
    _functions[name] = function
    section = {
        "kind": "python",
        "factory": FUNCTION_FACTORY,
        "options": {"code": code_digest(function)},
        "batch_size": 1,  # so that each response is cached as soon as it arrives
        **entries,
    }
    spec = PythonSpec.model_validate(section)
    return ResolvedModel(name=name, spec=spec, location=FUNCTION_FACTORY, section=section)


def code_digest(function: Any) -> str:  # noqa: ANN401 - whatever can be called
    """Digest a function's code; "" if it has no Python code, such as a function written in C.

    >>> code_digest(lambda images, prompt: "A") == code_digest(lambda images, prompt: "B")
    False
    >>> code_digest(len)
    ''
    """
    parts = [part for wrapped in _with_wrapped(function) for part in _function_parts(wrapped)]
    return sha256("\n".join(parts).encode()).hexdigest()[:_DIGITS] if parts else ""


def _with_wrapped(function: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
    """A function, and those inside it: of a partial, and of decorators."""
    while function is not None:
        yield function
        is_partial = isinstance(function, functools.partial)
        wrapped = getattr(function, "__dict__", {}).get("__wrapped__")
        function = function.func if is_partial else wrapped


def _function_parts(function: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    """Code, plain defaults and arguments of a partial; nothing of a function written in C."""
    inner = function if hasattr(function, "__code__") else function.__call__  # a callable object
    values: Iterable[object] = ()
    if isinstance(function, functools.partial):
        values = (*function.args, *chain.from_iterable(function.keywords.items()))
    elif isinstance(code := getattr(inner, "__code__", None), CodeType):
        yield from _code_parts(code)
        values = (*(inner.__defaults__ or ()), *(inner.__kwdefaults__ or {}).values())
    yield from (repr(value) for value in values if isinstance(value, str | int | float))


def _code_parts(code: CodeType) -> Iterator[str]:
    """Code of a function, without its location."""
    yield code.co_code.hex()
    yield repr(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_parts(constant)
        elif isinstance(constant, frozenset):  # whose order differs between processes
            yield repr(sorted(map(repr, constant)))
        else:
            yield repr(constant)


class CallableModel(FunctionModel):
    """A function of this process, by its name."""

    def __init__(self, name: str, open_image: OpenImage, *, code: str) -> None:
        """Find the function.

        Raises:
            ModelError: If no function of that name is registered in this process.
        """
        if name not in _functions:
            raise ModelError(
                f"{name}: this process does not have the Python function. Pass it"
                f" again: bench.evaluate(..., model=FUNCTION, name={name!r})"
            )
        super().__init__(name, f"callable|{name}|code:{code}", _functions[name], open_image)
