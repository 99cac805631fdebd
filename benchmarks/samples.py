"""(10) The report of 100,000 questions and three models, or BENCH_SAMPLES; then one model more.

Tables are lists of rows, and 100,000 questions fit into 1 GiB (docs/large.md).
"""

import os
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time

from benchmarks.figures import Figure, expect, run_command
from tests.report.many_samples import ManySamples, make_report

N = int(os.environ.get("BENCH_SAMPLES", "100000"))
MODELS, IMAGES = 3, 2_000

_MEMORY = 1024  # MiB
_OF_AN_IMAGE = 0.01  # s of CPU: a photograph is decoded, and made small
_OF_A_QUESTION = (600 - IMAGES * _OF_AN_IMAGE) / 1e6  # s, so that a million are in ten minutes


def measure(folder: Path) -> list[Figure]:
    """Write the tables here, make the report in processes of their own."""
    many = ManySamples(folder, N, IMAGES)
    for number in range(MODELS):
        many.add_model(f"run/step-{100 * number}")
    first, peak = _made(folder, "first")
    many.add_model("one more")
    more, _ = _made(folder, "more")
    what = f"{N:,} x {MODELS}"
    cpu = IMAGES * _OF_AN_IMAGE + N * _OF_A_QUESTION
    own = N * _OF_A_QUESTION / MODELS
    return [
        Figure(what=f"(10) report of {what}: CPU", value=first, most=cpu, unit="s"),
        Figure(what=f"(10) report of {what}: peak memory", value=peak, most=_MEMORY, unit="MiB"),
        Figure(what="(10) one more model: CPU", value=more, most=own, unit="s"),
    ]


def _made(folder: Path, name: str) -> tuple[float, float]:
    """CPU seconds and peak memory in MiB of making the report."""
    command = (sys.executable, "-m", "benchmarks.samples", str(folder))
    cpu, peak = map(float, expect(run_command(folder / name, *command)).output.split()[-2:])
    return cpu, peak


def main(folder: str) -> None:
    """Make the report; the last words of output are its CPU seconds and the peak memory in MiB."""
    started = process_time()
    make_report(Path(folder))
    sys.stdout.write(f"{process_time() - started} {getrusage(RUSAGE_SELF).ru_maxrss / 1024}\n")


if __name__ == "__main__":
    main(sys.argv[1])
