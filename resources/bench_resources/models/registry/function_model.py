"""A Python function ``(images, prompt) -> text`` as a chat model."""

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from PIL import Image as PillowImage

from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.schema.chat import Image, Prompt, Request, Response, Turn
from bench_assets.core.schema.errors import ImageError, ModelError, SettingsError

OpenImage: TypeAlias = Callable[[str], PillowImage.Image]  # SHA-256 -> the image, as RGB
ModelFunction: TypeAlias = Callable[[list[PillowImage.Image], str], str]
"""Images in reading order, and the text of the prompt; returns the response."""

_raised: list[Exception] = []
"""The first exception of the function that was opened last: responses hold its text alone."""


def first_error() -> list[Exception]:
    """The first exception that the function opened last has raised; [] without one."""
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
        _raised.clear()
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
