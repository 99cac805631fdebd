"""(7) Loading the code location, the best of three times."""

import sys
from pathlib import Path

from benchmarks.figures import Figure, expect, run_command

_LOAD = (sys.executable, "-c", "import bench_assets.definitions")


def measure(folder: Path) -> list[Figure]:
    """Import the definitions in processes of their own."""
    runs = [expect(run_command(folder / "home", *_LOAD)) for _ in range(3)]
    return [
        Figure(
            what="(7) loading the definitions", value=min(r.wall for r in runs), most=3, unit="s"
        )
    ]
