"""Keeps what was measured in several orders: ``orders.jsonl`` of a home, a figure a line."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench_assets.core.json_entries import read_lines
from bench_assets.core.records import records
from bench_assets.soundness.order_figures import OrderFigure
from resources.disk.writing import written_aside

NAME = "orders.jsonl"


def read_order_figures(home: Path, task: str = "") -> list[OrderFigure]:
    """Read the figures of one task, or of all, latest last; none where nothing was measured.

    Raises:
        SourceError: If the file is damaged; names the line.
    """
    file = home / NAME
    found = records(read_lines(file), OrderFigure) if file.exists() else []
    return [one for one in found if task in ("", one.task)]


def add_order_figures(home: Path, figures: Sequence[OrderFigure]) -> Path:
    """Add figures to what is kept.

    Raises:
        HomeError: If the disk does not take them.
    """
    file = home / NAME
    before = file.read_text("utf-8") if file.exists() else ""
    lines = [json.dumps(_known(one), ensure_ascii=False) + "\n" for one in figures]
    with written_aside(file) as written:
        written.write((before + "".join(lines)).encode())
    return file


def _known(figure: OrderFigure) -> dict[str, object]:
    """Its fields, but for numbers that are none: JSON has no NaN."""
    return {name: value for name, value in asdict(figure).items() if value == value}  # noqa: PLR0124
