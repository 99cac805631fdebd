"""The record of a training run: how it was made, and how the loss fell."""

import json
import platform
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any


class Record:
    """Takes down what happens while it happens."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        """Start the clock."""
        self._plan = plan
        self._start = time.monotonic()
        self._losses: list[dict[str, Any]] = []

    def log(self, stage: str, step: int, loss: float) -> None:
        """Take down a loss, the mean since the last one, and print it."""
        seconds = round(time.monotonic() - self._start)
        line = {"stage": stage, "step": step, "loss": round(loss, 4), "seconds": seconds}
        self._losses.append(line)
        print(json.dumps(line), flush=True)

    def write(self, file: Path) -> None:
        """Write it all as JSON."""
        content = {
            "plan": self._plan,
            "seconds": round(time.monotonic() - self._start),
            "versions": {
                "python": platform.python_version(),
                **{name: version(name) for name in ("torch", "transformers", "tokenizers")},
            },
            "losses": self._losses,
        }
        file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
