"""Python functions ``(images, prompt) -> text`` as models.

Responses of a function that was given to ``bench.evaluate`` are cached by the caller's name for it
and the function's code. Objects that it uses, such as weights, are not part of the key.
"""

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import chain
from types import CodeType, MappingProxyType
from typing import Any, TypeAlias
from uuid import uuid4

from PIL import Image as PillowImage

from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_resources.config.sections.models import CALLERS_FUNCTION, PythonSpec
from bench_resources.models.registry.named_models import ResolvedModel

ModelFunction: TypeAlias = Callable[[list[PillowImage.Image], str], str]
"""Images in reading order, and the text of the prompt; returns the response."""

_DIGITS = 12  # hexadecimal digits of a digest
_functions: dict[str, ModelFunction] = {}
"""Functions of this process by model name, because settings can only hold the name."""


def function_name(function: Callable[..., object]) -> str:
    """Name of a function as a valid model name.

    >>> function_name(lambda images, prompt: "A"), function_name(len)
    ('lambda', 'len')
    """
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", None) or type(function).__name__
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "function"


def check_function(function: Any) -> None:  # noqa: ANN401 - whatever a caller gives
    """Check that a function takes images and a prompt, and is synchronous.

    Raises:
        SettingsError: If it cannot be called, takes other arguments, is asynchronous, or is a
            transformers model.
    """
    expected = f"model: expected a function (images, prompt) -> text, got {function_name(function)}"
    if not callable(function):
        raise SettingsError(expected)
    if any(base.__module__.startswith("transformers.") for base in type(function).__mro__):
        raise SettingsError(
            f"{expected}. Pass the folder or hub id that it was loaded from, or a function that"
            " calls it"
        )
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(function.__call__):
        raise SettingsError(f"{expected}, which is asynchronous. Pass a synchronous function")
    try:
        inspect.signature(function).bind([], "")
    except TypeError as error:
        raise SettingsError(f"{expected}: {error}") from None
    except ValueError:  # of a function in C without a signature
        return


def resolve_function(
    function: ModelFunction, name: str = "", fields: Mapping[str, object] = MappingProxyType({})
) -> ResolvedModel:
    """Make a model of a function; without a name, under one that is never used again.

    ``fields`` are added to its section.

    Raises:
        SettingsError: If it is no such function.
    """
    check_function(function)
    name = name or f"{function_name(function)}@{uuid4().hex[:8]}"
    _functions[name] = function
    section = {
        "kind": "python",
        "function": CALLERS_FUNCTION,
        "options": {"code": code_digest(function)},
        **fields,
    }
    spec = PythonSpec.model_validate(section)
    return ResolvedModel(name=name, spec=spec, location=CALLERS_FUNCTION, section=section)


def registered_function(name: str) -> ModelFunction:
    """The function that ``resolve_function`` was given for a model.

    Raises:
        ModelError: If this process was given none.
    """
    if name not in _functions:
        raise ModelError(
            f"{name}: this process does not have the Python function. Pass it"
            f" again: bench.evaluate(..., model=FUNCTION, name={name!r})"
        )
    return _functions[name]


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
