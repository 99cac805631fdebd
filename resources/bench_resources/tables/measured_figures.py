"""Measured figures of readers, and draws, stored per home."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from bench_assets.core.schema.measured_figures import DrawnUnit, JudgeFigure
from bench_assets.core.tables.json_records import read_lines, records
from bench_resources.storage.atomic_write import open_atomic
from bench_resources.storage.home_files import hold_file

_FILES: Mapping[type[Any], str] = {JudgeFigure: "judges.jsonl", DrawnUnit: "draws.jsonl"}

Figure = TypeVar("Figure", JudgeFigure, DrawnUnit)


def read_figures(home: Path, kind: type[Figure], task: str = "") -> list[Figure]:
    """Read the figures of one task, or of all tasks.

    Raises:
        SourceError: If the file is damaged; names the line.
    """
    file = home / _FILES[kind]
    figures = records(read_lines(file), kind).require() if file.exists() else []
    return [figure for figure in figures if task in ("", figure.task)]


def add_figures(home: Path, kind: type[Figure], figures: Sequence[Figure]) -> Path:
    """Append figures; returns their file.

    Raises:
        HomeError: If the file cannot be written.
    """
    file = home / _FILES[kind]
    lines = [json.dumps(asdict(figure), ensure_ascii=False) + "\n" for figure in figures]
    with hold_file(home, file.name):
        content = file.read_bytes() if file.exists() else b""
        with open_atomic(file) as target:
            target.write(content + "".join(lines).encode())
    return file
