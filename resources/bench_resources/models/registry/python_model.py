"""Engine of models that are Python functions ``(images, prompt) -> text``."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

from PIL import Image as PillowImage

from bench_assets.core.extras import EXTRAS, install_command
from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.schema.chat import Image, Prompt, Request, Response, Turn
from bench_assets.core.schema.errors import ImageError, ModelError, SettingsError
from bench_resources.config.environment import add_module_folders
from bench_resources.config.sections.engine_kinds import EngineContext
from bench_resources.config.sections.models import CALLERS_FUNCTION, PythonSpec
from bench_resources.config.toml_validation import suggest_entry
from bench_resources.models.registry.functions import check_function, registered_function
from bench_resources.models.workers.local_model import decode

_DIGITS = 12  # hexadecimal digits of a digest
_raised: list[Exception] = []
"""The first exception of the function that was opened last: responses hold its text alone."""


def first_error() -> Exception | None:
    """The first exception that the function opened last has raised; None without one."""
    return _raised[0] if _raised else None


class PythonEngine:
    """Calls a function, one request at a time; the identity has a digest of its code."""

    decoding = None  # unknown
    peak_memory = None

    def __init__(self, spec: PythonSpec, context: EngineContext) -> None:
        """Find the function.

        Raises:
            SettingsError: If it cannot be imported, or is no such function.
            ModelError: If it was given to ``bench.evaluate`` of another process.
        """
        self._context = context
        if spec.function == CALLERS_FUNCTION:
            self._function = registered_function(context.name)
            self.identity = f"callable|{context.name}|code:{spec.options['code']}"
        else:
            module, function = _import_function(spec, context)
            self._function = partial(function, **spec.options)
            options = f"|options={json.dumps(spec.options, sort_keys=True)}" if spec.options else ""
            self.identity = f"function|{spec.function}|code:{_code_of(module)}{options}"
        check_function(self._function)
        _raised.clear()

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield position and response; a function that raises gives a response with ``error``."""
        for position, request in enumerate(requests):
            try:
                response = self._answer(request.prompt)
            except ImageError as error:
                response = Response(error=str(error))
            yield position, response

    def close(self) -> None:
        """Do nothing: the function belongs to its module."""

    def _answer(self, prompt: Prompt) -> Response:
        """Call the function for each round of turns, and return its last response.

        A call gets the images and texts of earlier turns too, and the earlier responses without
        reasoning; the first error is final.
        """
        images: list[PillowImage.Image] = []
        texts: list[str] = []
        response = Response(error="the prompt has no unanswered user turn")
        for index, turns in enumerate(prompt.rounds()):
            images += [
                decode(image, self._context.read_image(image.sha256), max_pixels=None)
                for image in _images(turns)
            ]
            if index:
                texts.append(f"Assistant: {strip_reasoning(response.text)}")
            texts += _texts(turns)
            response = self._call(list(images), "\n".join(texts))  # a copy: it may be changed
            if response.error:
                break
        return response

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
    """Texts of turns; those of assistant turns, as in few-shot prompts, are labelled."""
    return [
        f"Assistant: {part}" if turn.role == "assistant" else part
        for turn in turns
        for part in turn.parts
        if isinstance(part, str)
    ]


def _import_function(
    spec: PythonSpec, context: EngineContext
) -> tuple[ModuleType, Callable[..., str]]:
    """Import the function of a section; returns its module too."""
    module_name, _, name = spec.function.partition(":")
    file = context.resolve("bench.toml")
    add_module_folders(context.resolve("."))
    try:
        module = import_module(module_name)
        function: Callable[..., str] = getattr(module, name)
    except Exception as error:  # any exception: the module is the user's
        is_import_error = isinstance(error, ImportError | AttributeError)
        message = str(error) if is_import_error else f"{type(error).__name__}: {error}"
        missing = error.name if isinstance(error, ImportError) else None
        if missing and missing in EXTRAS:
            message += f": {install_command(missing)}"
        raise SettingsError(f"{file}, model {context.name}: {spec.function}: {message}") from error
    if not callable(function):
        raise SettingsError(f"{file}, model {context.name}: {spec.function}: not a function")
    if unknown := _unknown_option(function, spec.options):
        raise SettingsError(f"{file}, [models.{context.name}.options]: {unknown}")
    return module, function


def _unknown_option(function: Callable[..., Any], options: Mapping[str, Any]) -> str:
    """Message on the first option that a function does not accept; "" without any."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):  # such as one written in C
        return ""
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return ""
    accepted = [parameter.name for parameter in parameters][2:]  # after images and prompt
    for name in options:
        if name not in accepted:
            return f"entry {name}: {suggest_entry(name, accepted)}"
    return ""


def _code_of(module: ModuleType) -> str:
    """Digest of the Python files of a module's innermost package, or of its only file."""
    if not module.__file__:
        return ""
    file, state = Path(module.__file__), sha256()
    in_package = "." in module.__name__ or hasattr(module, "__path__")
    for source in sorted(file.parent.rglob("*.py")) if in_package else [file]:
        state.update(source.name.encode() + b"\n" + sha256(source.read_bytes()).digest())
    return state.hexdigest()[:_DIGITS]
