"""Run all measurements, or those named, and print one table; fails if a bound is broken."""

import argparse
import os
import traceback
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure, measured

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
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("measurement", nargs="*", help=", ".join(MEASUREMENTS))
    chosen = parser.parse_args().measurement or MEASUREMENTS
    figures: list[Figure] = []
    failed: list[str] = []
    for name in chosen:
        try:
            figures += _measured_apart(name)
        except Exception:  # noqa: BLE001  # the other parts still run
            traceback.print_exc()
            failed.append(name)
    print_table(figures)
    if failed:
        print(f"not measured, because they failed: {', '.join(failed)}")
    raise SystemExit(bool(failed) or not all(figure.holds for figure in figures))


def _measured_apart(name: str) -> list[Figure]:
    """Measure in a process of its own: peaks of memory pass from a process to its children."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(measured, name).result()


def print_table(figures: list[Figure]) -> None:
    """Print figures with their bounds, and how busy the machine was."""
    table = Table("measure", "figure", "bound", "", box=None, pad_edge=False, header_style="bold")
    for one in figures:
        sign = ">= " if one.most is None else "= " if one.exactly else "<= "
        of = one.least if one.most is None else one.most
        bound = "" if of is None else f"{sign}{of:g} {one.unit}"
        table.add_row(one.what, f"{one.value:.4g} {one.unit}", bound, "" if one.holds else "MISSED")
    console = Console(highlight=False, width=120)
    console.print(table)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    console.print(f"{os.cpu_count()} CPUs, load averages of 1, 5 and 15 minutes: {load}")


if __name__ == "__main__":
    main()
