"""Annotation tasks and code books of a suite: ``annotation.toml`` beside it."""

import tomllib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

from bench_assets.annotation.tasks import AnnotationTask, Field, yes_or_no
from bench_assets.core.schema.errors import SourceError


class ErrorCode(NamedTuple):
    """A code of the code book: a kind of mistake."""

    name: str
    about: str
    paper: float = nan  # share of mistakes in the paper; NaN if not reported


class CodeBook(NamedTuple):
    """The kinds of mistakes for a task's responses."""

    where: str  # place in the paper; "" for our own code book
    codes: tuple[ErrorCode, ...]


GENERAL_CODE_BOOK = CodeBook(
    "",
    (
        ErrorCode("seeing", "something in the images is not seen, or seen that is not there"),
        ErrorCode("reading", "the question, its options or its context are misunderstood"),
        ErrorCode("knowing", "a fact that no image shows is not known"),
        ErrorCode(
            "reasoning", "what is seen and known is right, and the wrong thing follows from it"
        ),
        ErrorCode("refusing", "no answer is given, or that it cannot be answered"),
        ErrorCode("form", "the right answer is there in a form that was not read"),
        ErrorCode("key", "the response is right, and the reference wrong or one of several"),
        ErrorCode("other", "something else: say what"),
    ),
)
"""Code book of suites whose paper has none."""


class TaskFile(NamedTuple):
    """Definitions of a suite's ``annotation.toml``."""

    tasks: Mapping[str, AnnotationTask]  # by name, without the suite
    code_book: CodeBook


def read_tasks(file: Path) -> TaskFile:
    """Read a suite's annotation tasks and the code book of its error analysis.

    ``[tasks.NAME]`` has the fields of ``AnnotationTask``. Its ``fields`` are tables with the fields
    of ``Field``, or the name of a task with the same fields; the kind ``yes_or_no`` needs no
    choices. ``{rules}`` in instructions is replaced by the text ``rules`` of ``[texts]``.

    Raises:
        SourceError: If the file cannot be read, or an entry has a missing, unknown or unfit field.
    """
    try:
        written = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SourceError(f"{file}: cannot be read as TOML: {error}") from error
    tasks: dict[str, AnnotationTask] = {}
    for name, task in written.get("tasks", {}).items():
        with _locate_errors(f"{file}, tasks.{name}"):
            tasks[name] = _task(f"{written['suite']}/{name}", task, written, tasks)
    with _locate_errors(f"{file}, code_book"):
        return TaskFile(
            tasks, _code_book(written["code_book"]) if "code_book" in written else GENERAL_CODE_BOOK
        )


@contextmanager
def _locate_errors(where: str) -> Generator[None]:
    """Name the entry in the error of a missing, unknown or unfit field."""
    try:
        yield
    except (LookupError, TypeError, ValueError) as error:
        raise SourceError(f"{where}: {type(error).__name__}: {error}") from error


def _task(
    name: str,
    task: dict[str, Any],
    written: Mapping[str, Any],
    known: Mapping[str, AnnotationTask],
) -> AnnotationTask:
    fields = task.pop("fields")
    return AnnotationTask(
        name=name,
        instructions=task.pop("instructions").format_map(written.get("texts", {})),
        fields=known[fields].fields if isinstance(fields, str) else tuple(map(_field, fields)),
        **task,
    )


def _code_book(written: Mapping[str, Any]) -> CodeBook:
    return CodeBook(written["where"], tuple(ErrorCode(*code) for code in written["codes"]))


def _field(written: dict[str, Any]) -> Field:
    if written["kind"] == "yes_or_no":
        return yes_or_no(written["name"], written["label"])
    return Field(**{**written, "choices": tuple(written.get("choices", ()))})
