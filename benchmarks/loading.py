"""(7) Loading the code location, the best of three times."""

import sys
from pathlib import Path

from benchmarks.figures import Figure, cpu_of_importing, expect, run_command

_DEFINITIONS = "bench_assets.definitions"


def measure(folder: Path) -> list[Figure]:
    """Import the definitions in processes of their own."""
    loading = (sys.executable, "-c", f"import {_DEFINITIONS}")
    walls = [expect(run_command(folder / "home", *loading)).wall for _ in range(3)]
    loaded, dagster = (cpu_of_importing(name, folder) for name in (_DEFINITIONS, "dagster"))
    return [
        Figure(what="(7) loading the definitions", value=min(walls), most=3, unit="s"),
        Figure(what="    CPU: import dagster = 1", value=loaded / dagster, most=4),
    ]
