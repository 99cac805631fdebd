"""The record of a training run: how it was made, how the loss fell, what it can and cannot do."""

import json
import platform
import time
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from examples.tiny_vlm.exam import Mark

_SURE = 0.001  # a category counts as learned below this p


class Record:
    """Takes down what happens while it happens."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        """Start the clock."""
        self._plan = plan
        self._start = time.monotonic()
        self._losses: list[dict[str, Any]] = []
        self._marks: dict[str, dict[str, Mark]] = {}

    def log(self, stage: str, step: int, loss: float) -> None:
        """Take down a loss, the mean since the last one, and print it."""
        seconds = round(time.monotonic() - self._start)
        line = {"stage": stage, "step": step, "loss": round(loss, 4), "seconds": seconds}
        self._losses.append(line)
        print(json.dumps(line), flush=True)

    def mark(self, checkpoint: str, marks: Mapping[str, Mark]) -> None:
        """Take down what a checkpoint got right, and print it."""
        self._marks[checkpoint] = dict(marks)
        for category, mark in marks.items():
            print(f"{checkpoint} {category}: {mark.accuracy:.2f} (p={mark.p:.1e})", flush=True)

    def write(self, file: Path, n_parameters: int) -> None:
        """Write it all as JSON; the last checkpoint says what was learned and what was not."""
        last = self._marks[max(self._marks)]
        content = {
            "parameters": n_parameters,
            "plan": self._plan,
            "seconds": round(time.monotonic() - self._start),
            "versions": {
                "python": platform.python_version(),
                **{name: version(name) for name in ("torch", "transformers", "tokenizers")},
            },
            "learned": [name for name, mark in last.items() if mark.p < _SURE],
            "not_learned": [name for name, mark in last.items() if mark.p >= _SURE],
            "exam": {
                checkpoint: {name: as_json(mark) for name, mark in marks.items()}
                for checkpoint, marks in self._marks.items()
            },
            "losses": self._losses,
        }
        file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def as_json(mark: Mark) -> dict[str, Any]:
    """Write a mark with its accuracy."""
    return {**asdict(mark), "accuracy": round(mark.accuracy, 4), "p": float(f"{mark.p:.3g}")}
