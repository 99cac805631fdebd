"""The demo, and the demo again with all its tables up to date."""

from pathlib import Path

from benchmarks.figures import Figure, measure_import, run_bench


def measure(folder: Path) -> list[Figure]:
    """Run the demo twice."""
    first, second = (run_bench(folder / "home", "home", "demo") for _ in range(2))
    cpu = second.cpu_seconds / measure_import("dagster", folder)
    return [
        Figure("demo", first.wall_seconds, unit="s"),
        Figure("second demo", second.wall_seconds, at_most=20, unit="s"),
        Figure("second demo: CPU: import dagster = 1", cpu),
    ]
