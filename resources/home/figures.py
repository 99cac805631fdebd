"""Keeps what was measured of judges and in other orders: a file of each in a home, latest last."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from bench_assets.core.json_entries import read_lines
from bench_assets.core.records import records
from bench_assets.soundness.judge_figures import JudgeFigure
from bench_assets.soundness.order_figures import OrderFigure
from resources.disk.writing import written_aside

_FILES: Mapping[type[Any], str] = {JudgeFigure: "judges.jsonl", OrderFigure: "orders.jsonl"}

Figure = TypeVar("Figure", JudgeFigure, OrderFigure)


def read_figures(home: Path, kind: type[Figure], task: str = "") -> list[Figure]:
    """Read the figures of one task, or of all; none where nothing was measured.

    Raises:
        SourceError: If the file is damaged; names the line.
    """
    file = home / _FILES[kind]
    found = records(read_lines(file), kind) if file.exists() else []
    return [one for one in found if task in ("", one.task)]


def add_figures(home: Path, kind: type[Figure], figures: Sequence[Figure]) -> Path:
    """Add figures to what is kept.

    Raises:
        HomeError: If the disk does not take them.
    """
    file = home / _FILES[kind]
    before = file.read_text("utf-8") if file.exists() else ""
    lines = [json.dumps(_known(one), ensure_ascii=False) + "\n" for one in figures]
    with written_aside(file) as written:
        written.write((before + "".join(lines)).encode())
    return file


def _known(figure: JudgeFigure | OrderFigure) -> dict[str, object]:
    """Its fields, but for numbers of an order that are none: JSON has no NaN."""
    kept = asdict(figure)
    if isinstance(figure, OrderFigure):
        return {name: value for name, value in kept.items() if value == value}  # noqa: PLR0124
    return kept
