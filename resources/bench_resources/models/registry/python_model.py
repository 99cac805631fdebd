"""Engine of models written in Python."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from hashlib import sha256
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

from PIL import Image

from bench_assets.core.extras import EXTRAS, install_command
from bench_assets.core.images.decoding import decode
from bench_assets.core.schema.chat import ChatModel, Request, Response
from bench_assets.core.schema.errors import BenchError, ImageError, ModelError, SettingsError
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.task import CANNOT_BE_READ
from bench_resources.config.environment import find_own_modules
from bench_resources.config.sections.engine_kinds import EngineContext
from bench_resources.config.sections.models import PythonSpec
from bench_resources.config.toml_validation import suggest_entry
from bench_resources.models.registry.function_model import FunctionModel, OpenImage
from bench_resources.response_cache.engine import ReadImage


class PythonEngine:
    """Runs the model that a factory makes, a batch at a time."""

    decoding = None  # unknown; the model's signature may describe it
    peak_memory = None

    def __init__(self, spec: PythonSpec, at: EngineContext) -> None:
        """Import the factory; the model is made on first use.

        Raises:
            SettingsError: If the module cannot be imported, or the name in it does not exist.
        """
        module, _, attribute = spec.place.partition(":")
        find_own_modules(at.resolve("."))
        try:
            self._module = import_module(module)
            self._callable: Callable[..., Any] = getattr(self._module, attribute)
        except Exception as error:  # any exception: the module is the user's
            file, reason = at.resolve("bench.toml"), isinstance(error, ImportError | AttributeError)
            message = f"{error}" if reason else f"{type(error).__name__}: {error}"
            missing = error.name if isinstance(error, ImportError) else None
            if missing and missing in EXTRAS:
                message += f": {install_command(missing)}"
            raise SettingsError(f"{file}, model {at.name}: {spec.place}: {message}") from error
        if unknown := _unknown_option(self._callable, spec.options):
            file = at.resolve("bench.toml")
            raise SettingsError(f"{file}, [models.{at.name}.options]: {unknown}")
        self._spec = spec
        self._at = at
        self.identity = ""  # until it is prepared

    def prepare(self) -> None:
        """Make the model; its identity is its own signature, and its options.

        Raises:
            ModelError: If the factory fails.
        """
        options = self._spec.options
        suffix = f"|options={json.dumps(options, sort_keys=True)}" if options else ""
        self.identity = f"{self._model.signature}{suffix}"

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield position and response, batch by batch."""
        size = 1 if self._spec.function else self._spec.batch_size
        for start in range(0, len(requests), size):
            batch = requests[start : start + size]
            try:
                responses = self._call(batch)
            except ModelError:
                raise
            except CANNOT_BE_READ:
                responses = [self._alone(request) for request in batch]
            yield from enumerate(responses, start)

    def close(self) -> None:
        """Drop the model."""
        self.__dict__.pop("_model", None)

    def particulars(self, request: Request) -> str:
        """The code, and the question."""
        questions = [request.question] if request.question else []
        return "\n".join([self._code, digest(questions)])

    def _alone(self, request: Request) -> Response:
        """Retry alone a request whose batch failed, such as for an image that does not decode."""
        try:
            return self._call([request])[0]
        except ModelError:
            raise
        except ImageError as exc:
            return Response(error=str(exc))
        except CANNOT_BE_READ as exc:
            return Response(error=f"{type(exc).__name__}: {exc}")

    def _call(self, batch: Sequence[Request]) -> list[Response]:
        responses = list(self._model.response(batch) or ())  # None if it forgets to return
        if len(responses) != len(batch):
            raise ModelError(
                f"{self._at.name}: {len(responses)} responses to {len(batch)} requests; "
                f"{self._spec.place} must return one per request, in order"
            )
        return responses

    @cached_property
    def _model(self) -> ChatModel:
        open_image, spec = _image_opener(self._at.read_image), self._spec
        if spec.function:
            function = partial(self._callable, **spec.options)
            return FunctionModel(self._at.name, f"function|{spec.function}", function, open_image)
        try:
            model: ChatModel = self._callable(self._at.name, open_image, **spec.options)
            if not hasattr(model, "signature"):
                raise ModelError(
                    f"{self._at.name}: {spec.factory}: expected a model, got"
                    f" {type(model).__name__}. A function (images, prompt) -> text is named by"
                    " `function` instead"
                )
        except BenchError:
            raise
        except Exception as error:  # any exception: the code is the user's
            message = f"{spec.factory}: {type(error).__name__}: {error}"
            raise ModelError(f"{self._at.name}: {message}") from error
        return model

    @cached_property
    def _code(self) -> str:
        state = sha256()
        for file in _files_of(self._module):
            state.update(file.name.encode() + b"\n" + sha256(file.read_bytes()).digest())
        return state.hexdigest()


def _unknown_option(function: Callable[..., Any], options: Mapping[str, Any]) -> str:
    """The first option that a function or factory does not accept; "" if all are fine."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):  # such as a class written in C
        return ""
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return ""
    known = [parameter.name for parameter in parameters][
        2:
    ]  # after images and prompt, or the model's name and open_image
    unknown = [name for name in options if name not in known]
    return f"entry {unknown[0]}: {suggest_entry(unknown[0], known)}" if unknown else ""


def _files_of(module: ModuleType) -> list[Path]:
    """The files of the innermost package of a module, or its file."""
    if not module.__file__:
        return []
    file = Path(module.__file__)
    in_package = "." in module.__name__ or hasattr(module, "__path__")
    return sorted(file.parent.rglob("*.py")) if in_package else [file]


def _image_opener(read_image: ReadImage) -> OpenImage:
    def open_image(sha256: str) -> Image.Image:
        data = read_image(sha256)
        try:
            return decode(data).image
        except ImageError as error:
            raise ImageError(f"image {sha256}: {error}") from error

    return open_image
