"""Keeps what was measured of judges: ``judges.jsonl`` of a home, a figure a line, latest last."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench_assets.core.json_entries import read_lines
from bench_assets.core.records import records
from bench_assets.soundness.judge_figures import JudgeFigure
from resources.disk.writing import written_aside

NAME = "judges.jsonl"


def read_figures(home: Path, task: str = "") -> list[JudgeFigure]:
    """Read the figures of one task's judges, or of all; none where nothing was measured.

    Raises:
        SourceError: If the file is damaged; names the line.
    """
    file = home / NAME
    found = records(read_lines(file), JudgeFigure) if file.exists() else []
    return [one for one in found if task in ("", one.task)]


def add_figures(home: Path, figures: Sequence[JudgeFigure]) -> Path:
    """Add figures to what is kept.

    Raises:
        HomeError: If the disk does not take them.
    """
    file = home / NAME
    before = file.read_text("utf-8") if file.exists() else ""
    lines = [json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in figures]
    with written_aside(file) as written:
        written.write((before + "".join(lines)).encode())
    return file
