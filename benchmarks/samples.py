"""(10) The samples of 20,000 questions for ten models in the report; then one model more."""

import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time

from benchmarks.figures import Figure, expect, run_command
from tests.report.many_samples import ManySamples, make_report

N, MODELS, IMAGES = 20_000, 10, 2_000


def measure(folder: Path) -> list[Figure]:
    """Write the tables here, make the report in processes of their own."""
    many = ManySamples(folder, N, IMAGES)
    for number in range(MODELS):
        many.add_model(f"run/step-{100 * number}")
    command = (sys.executable, "-m", "benchmarks.samples", str(folder))
    first = expect(run_command(folder / "first", *command))
    many.add_model("one more")
    more = expect(run_command(folder / "more", *command))
    cpu, peak = map(float, first.output.split()[-2:])
    return [
        Figure(what="(10) samples of 20,000 x 10 in the report: CPU", value=cpu, most=60, unit="s"),
        Figure(what=f"    with {IMAGES:,} images, wall", value=first.wall, unit="s"),
        Figure(what="(10) peak memory", value=peak, most=1000, unit="MiB"),
        Figure(
            what="(10) one more model: CPU",
            value=float(more.output.split()[-2]),
            most=5,
            unit="s",
        ),
    ]


def main(folder: str) -> None:
    """Make the report; the last words of output are its CPU seconds and the peak memory in MiB."""
    started = process_time()
    make_report(Path(folder))
    sys.stdout.write(f"{process_time() - started} {getrusage(RUSAGE_SELF).ru_maxrss / 1024}\n")


if __name__ == "__main__":
    main(sys.argv[1])
