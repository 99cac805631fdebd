"""Annotation tasks of a suite: ``annotation.toml`` beside it."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench_assets.annotation.tasks import AnnotationTask, Field, yes_or_no
from bench_assets.core.schema.errors import SourceError


def read_tasks(file: Path) -> dict[str, AnnotationTask]:
    """Read a suite's annotation tasks, by name without the suite.

    ``[tasks.NAME]`` has the fields of ``AnnotationTask``. Its ``fields`` are tables with the fields
    of ``Field``, or the name of a task with the same fields; the kind ``yes_or_no`` needs no
    choices. ``{rules}`` in instructions is replaced by the text ``rules`` of ``[texts]``.

    Raises:
        SourceError: If the file cannot be read, or an entry has a missing, unknown or unfit field.
    """
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SourceError(f"{file}: cannot be read as TOML: {error}") from error
    tasks: dict[str, AnnotationTask] = {}
    for name, definition in document.get("tasks", {}).items():
        try:
            task_name = f"{document['suite']}/{name}"
            tasks[name] = _parse_task(task_name, definition, document.get("texts", {}), tasks)
        except (LookupError, TypeError, ValueError) as error:
            reason = f"{type(error).__name__}: {error}"
            raise SourceError(f"{file}, tasks.{name}: {reason}") from error
    return tasks


def _parse_task(
    name: str,
    definition: Mapping[str, Any],
    texts: Mapping[str, str],
    earlier_tasks: Mapping[str, AnnotationTask],
) -> AnnotationTask:
    """Parse a task, whose fields may be those of an earlier one."""
    fields = definition["fields"]
    if isinstance(fields, str):
        task_fields = earlier_tasks[fields].fields
    else:
        task_fields = tuple(map(_parse_field, fields))
    instructions = definition["instructions"].format_map(texts)
    return AnnotationTask(
        name=name, **{**definition, "fields": task_fields, "instructions": instructions}
    )


def _parse_field(definition: Mapping[str, Any]) -> Field:
    if definition["kind"] == "yes_or_no":
        return yes_or_no(definition["name"], definition["label"])
    return Field(**{**definition, "choices": tuple(definition.get("choices", ()))})
