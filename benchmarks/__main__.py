"""Run all measurements or the named ones, and print one table; fail if a bound is missed."""

import argparse
import os
import traceback
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure, run_measurement

MEASUREMENTS = (
    "asking",
    "editing",
    "killing",
    "failing",
    "queries",
    "loading",
    "building",
    "many_benchmarks",
    "large",
    "many_models",
    "captions",
    "parsing",
    "reading",
    "samples",
    "audit",
    "annotation",
    "cluster",
    "demo",
)


def main() -> None:
    """Exit with 1 if a measurement fails or a figure misses its bound."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("measurement", nargs="*", help=", ".join(MEASUREMENTS))
    names = parser.parse_args().measurement or MEASUREMENTS
    figures: list[Figure] = []
    failed: list[str] = []
    for name in names:
        try:
            figures += _run_in_new_process(name)
        except Exception:  # noqa: BLE001  # run the other measurements
            traceback.print_exc()
            failed.append(name)
    print_table(figures)
    if failed:
        print(f"not measured, because they failed: {', '.join(failed)}")
    raise SystemExit(bool(failed) or not all(figure.holds for figure in figures))


def _run_in_new_process(name: str) -> list[Figure]:
    """Run a measurement in a new process, as a child process starts with its parent's peak."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(run_measurement, name).result()


def print_table(figures: list[Figure]) -> None:
    """Print figures with their bounds, and the load of the machine."""
    table = Table("measure", "figure", "bound", "", box=None, pad_edge=False, header_style="bold")
    for figure in figures:
        value = f"{figure.value:.4g} {figure.unit}"
        table.add_row(figure.title, value, figure.bound, "" if figure.holds else "MISSED")
    console = Console(highlight=False, width=120)
    console.print(table)
    loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    console.print(f"{os.cpu_count()} CPUs, load averages of 1, 5 and 15 minutes: {loads}")


if __name__ == "__main__":
    main()
