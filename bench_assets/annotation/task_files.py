"""Annotation tasks and code books of a suite: ``annotation.toml`` beside it."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench_assets.annotation.responses.error_analysis import GENERAL, CodeBook, ErrorCode
from bench_assets.annotation.tasks import AnnotationTask, Field, yes_or_no


class TaskFile(NamedTuple):
    """Definitions of a suite's ``annotation.toml``."""

    tasks: Mapping[str, AnnotationTask]  # by name, without the suite
    code_book: CodeBook


def read_tasks(file: Path) -> TaskFile:
    """Read a suite's annotation tasks and the code book of its error analysis.

    ``[tasks.NAME]`` has the fields of ``AnnotationTask``. Its ``fields`` are tables with the fields
    of ``Field``, or the name of a task with the same fields; the kind ``yes_or_no`` needs no
    choices. ``{rules}`` in instructions is replaced by the text ``rules`` of ``[texts]``.
    """
    written = tomllib.loads(file.read_text(encoding="utf-8"))
    tasks: dict[str, AnnotationTask] = {}
    for name, task in written["tasks"].items():
        fields = task.pop("fields")
        tasks[name] = AnnotationTask(
            name=f"{written['suite']}/{name}",
            instructions=task.pop("instructions").format_map(written.get("texts", {})),
            fields=tasks[fields].fields if isinstance(fields, str) else tuple(map(_field, fields)),
            **task,
        )
    book = written.get("code_book")
    codes = tuple(ErrorCode(*code) for code in book["codes"]) if book else ()
    return TaskFile(tasks, CodeBook(book["where"], codes) if book else GENERAL)


def _field(written: dict[str, Any]) -> Field:
    if written["kind"] == "yes_or_no":
        return yes_or_no(written["name"], written["label"])
    return Field(**{**written, "choices": tuple(written.get("choices", ()))})
