"""Import of the code location, the best of three."""

import sys
from pathlib import Path

from benchmarks.figures import Figure, measure_import, run_command

_DEFINITIONS = "bench_assets.definitions"


def measure(folder: Path) -> list[Figure]:
    """Import the definitions in new processes."""
    command = (sys.executable, "-c", f"import {_DEFINITIONS}")
    wall_seconds = min(run_command(folder / "home", *command).wall_seconds for _ in range(3))
    cpu = measure_import(_DEFINITIONS, folder) / measure_import("dagster", folder)
    return [
        Figure("import of the definitions", wall_seconds, at_most=3, unit="s"),
        Figure("    CPU: import dagster = 1", cpu, at_most=4),
    ]
