"""Measure the local engines on GPUs and print one table; fails if a bound is broken."""

import argparse
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.gpu.measuring import REAL_PLAN, TINY_PLAN, about, measured, missing
from benchmarks.gpu.page import PAGE, write_table
from benchmarks.gpu.rows import HEADER, Row, bound_of, lines


def main() -> None:
    """Measure, print, and with ``--write`` put the table into docs/gpu.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    parser.add_argument("--tiny", action="store_true", help="tiny models on the CPU, to try it")
    asked = parser.parse_args()
    console = Console(highlight=False, width=160)
    plan = TINY_PLAN if asked.tiny else REAL_PLAN
    console.print(f"Measures {about(plan)}.")
    if why_not := missing(plan, "", 1):
        console.print(f"Skipped: {why_not}. --tiny tries the harness on the CPU.")
        return
    rows: list[Row] = []
    try:
        with tempfile.TemporaryDirectory(prefix="bench-gpu-") as folder:
            for row in measured(plan, Path(folder)):
                rows.append(row)
                console.print(" ".join(filter(None, next(lines([row])))))
    finally:
        table = Table(*HEADER, box=None, pad_edge=False, header_style="bold")
        for cells in lines(rows):
            table.add_row(*cells)
        console.print(table)
    if asked.write:
        write_table(rows)
    bounds = [bound_of(row, rows) for row in rows]
    raise SystemExit(not all(bound.holds for bound in bounds if bound))


if __name__ == "__main__":
    main()
