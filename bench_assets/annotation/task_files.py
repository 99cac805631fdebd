"""Annotation tasks of a suite: ``annotation.toml`` beside it."""

import tomllib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench_assets.annotation.tasks import AnnotationTask, Field, yes_or_no
from bench_assets.core.schema.errors import SourceError


class TaskFile(NamedTuple):
    """Definitions of a suite's ``annotation.toml``."""

    tasks: Mapping[str, AnnotationTask]  # by name, without the suite


def read_tasks(file: Path) -> TaskFile:
    """Read a suite's annotation tasks.

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
    return TaskFile(tasks)


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


def _field(written: dict[str, Any]) -> Field:
    if written["kind"] == "yes_or_no":
        return yes_or_no(written["name"], written["label"])
    return Field(**{**written, "choices": tuple(written.get("choices", ()))})
