"""The report of 100,000 questions and three models, then with one more model.

The environment variable BENCH_SAMPLES sets another number of questions.
100,000 questions fit into 1 GiB (docs/large.md).
"""

import os
import sys
from pathlib import Path
from time import process_time

from benchmarks.figures import Figure, run_command
from tests.report.many_samples import ManySamples, make_report

N_QUESTIONS = int(os.environ.get("BENCH_SAMPLES", "100000"))
N_MODELS, N_IMAGES = 3, 2_000

_MAX_MIB = 1024
_SECONDS_PER_IMAGE = 0.01  # CPU, to decode a photograph and make it small
_SECONDS_PER_QUESTION = (600 - N_IMAGES * _SECONDS_PER_IMAGE) / 1e6  # CPU; 600 s for a million


def measure(folder: Path) -> list[Figure]:
    """Write the tables, and write each report in a new process."""
    many = ManySamples(folder, N_QUESTIONS, N_IMAGES)
    command = (sys.executable, "-m", "benchmarks.samples", str(folder))
    for number in range(N_MODELS):
        many.add_model(f"run/step-{100 * number}")
    first = run_command(folder / "first", *command)
    many.add_model("one more")
    second = run_command(folder / "second", *command)
    title = f"report of {N_QUESTIONS:,} questions, {N_MODELS} models"
    max_seconds_of_questions = N_QUESTIONS * _SECONDS_PER_QUESTION
    return [
        Figure(
            f"{title}: CPU",
            float(first.output.split()[-1]),
            at_most=N_IMAGES * _SECONDS_PER_IMAGE + max_seconds_of_questions,
            unit="s",
        ),
        Figure(f"{title}: peak memory", first.peak_mib, at_most=_MAX_MIB, unit="MiB"),
        Figure(
            "    one more model: CPU",
            float(second.output.split()[-1]),
            at_most=max_seconds_of_questions / N_MODELS,
            unit="s",
        ),
    ]


def main(folder: str) -> None:
    """Write the report, and print its CPU seconds."""
    started = process_time()
    make_report(Path(folder))
    sys.stdout.write(f"{process_time() - started}\n")


if __name__ == "__main__":
    main(sys.argv[1])
