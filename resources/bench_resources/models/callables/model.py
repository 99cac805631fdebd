"""A Python function ``(images, prompt) -> text`` as a model.

Its responses are cached by the caller's name for it and the function's code. Objects that the
function uses, such as weights, are not part of the key.
"""

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from types import CodeType, MappingProxyType
from typing import Any, TypeAlias
from uuid import uuid4

from PIL import Image as PillowImage

from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.schema.chat import Image, Prompt, Request, Response, Turn
from bench_assets.core.schema.errors import ImageError, ModelError, SettingsError
from bench_resources.config.sections.models import FUNCTION_FACTORY, PythonSpec
from bench_resources.models.registry.named_models import ResolvedModel
from bench_resources.models.registry.python_model import OpenImage

ModelFunction: TypeAlias = Callable[[list[PillowImage.Image], str], str]
"""Images in reading order, and the text of the prompt; returns the response."""

_DIGITS = 12
_functions: dict[str, ModelFunction] = {}
"""Functions of this process by model name, because settings can only hold the name."""
_raised: list[Exception] = []
"""The first exception of the function that was resolved last: responses hold its text alone."""


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
    _raised.clear()
    section = {
        "kind": "python",
        "factory": FUNCTION_FACTORY,
        "options": {"code": code_digest(function)},
        "batch_size": 1,  # so that each response is cached as soon as it arrives
        **entries,
    }
    spec = PythonSpec.model_validate(section)
    return ResolvedModel(name=name, spec=spec, location=FUNCTION_FACTORY, section=section)


def first_error() -> list[Exception]:
    """The first exception that the last resolved function has raised; [] without one."""
    return list(_raised)


def function_name(function: Callable[..., object]) -> str:
    """Name of a function as a valid model name.

    >>> function_name(lambda images, prompt: "A"), function_name(len)
    ('lambda', 'len')
    """
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", None) or type(function).__name__
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "function"


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


def check_function(function: Any) -> None:  # noqa: ANN401 - whatever can be called
    """Check that a function takes images and a prompt, and is synchronous.

    Raises:
        SettingsError: If it takes other arguments, is asynchronous, or is a transformers model.
    """
    expected = f"model: expected a function (images, prompt) -> text, got {function_name(function)}"
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


class FunctionModel:
    """A chat model that calls a function, one request at a time."""

    def __init__(
        self, name: str, signature: str, function: ModelFunction, open_image: OpenImage
    ) -> None:
        """Keep the function.

        Raises:
            SettingsError: If it is no such function.
        """
        check_function(function)
        self.name, self.signature = name, signature
        self._function, self._open_image = function, open_image

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order; a function that raises gives a response with ``error``."""
        return [self._answer(request.prompt) for request in requests]

    def _answer(self, prompt: Prompt) -> Response:
        """Answer every user turn, with the earlier responses, without reasoning, in its text."""
        images: list[PillowImage.Image] = []
        texts: list[str] = []
        answer = Response()
        for turns in prompt.rounds():
            images += [self._open_image(image.sha256) for image in _images(turns)]
            texts += [f"Assistant: {strip_reasoning(answer.text)}"] if answer.finish_reason else []
            texts += _texts(turns)
            answer = self._call(list(images), "\n".join(texts))
            if answer.error:
                return answer
        return answer

    def _call(self, images: list[PillowImage.Image], text: str) -> Response:
        try:
            result = self._function(images, text)
        except (ImageError, ModelError):
            raise
        except Exception as exc:  # noqa: BLE001 - the code is the user's
            if not _raised:
                _raised.append(exc)
            return Response(error=f"{type(exc).__name__}: {exc}")
        if not isinstance(result, str):
            return Response(error=f"expected a text, got {type(result).__name__}: {result!r:.60}")
        return Response(text=result, finish_reason="stop")


def _images(turns: Sequence[Turn]) -> list[Image]:
    return [part for turn in turns for part in turn.parts if isinstance(part, Image)]


def _texts(turns: Sequence[Turn]) -> list[str]:
    """Join the texts of a prompt; assistant turns, as in few-shot prompts, are labelled."""
    return [
        f"Assistant: {part}" if turn.role == "assistant" else part
        for turn in turns
        for part in turn.parts
        if isinstance(part, str)
    ]


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
