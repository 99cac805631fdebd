"""(9) The demo for the second time: every table is as it would be, nothing is made."""

from pathlib import Path

from benchmarks.figures import Figure, cpu_of_importing, expect, run


def measure(folder: Path) -> list[Figure]:
    """Run the demo twice."""
    first, again = (expect(run(folder / "home", "home", "demo")) for _ in range(2))
    dagster = cpu_of_importing("dagster", folder)
    return [
        Figure(what="(9) the demo: wall", value=first.wall, unit="s"),
        Figure(what="(9) the demo again: wall", value=again.wall, most=20, unit="s"),
        Figure(what="    CPU: import dagster = 1", value=again.cpu / dagster),
    ]
