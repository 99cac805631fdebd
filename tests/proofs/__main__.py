"""``python -m tests.proofs FOLDER``: recompute the proofs, freeze them, and write their pages.

FOLDER holds checkouts by the name of their repository (``FOLDER/MathVista``). A benchmark without a
checkout keeps its frozen points, and a message states it.
"""

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from tests.proofs.benchmarks import BENCHMARKS, KnownBenchmark
from tests.proofs.pages import COUNTS, RESULTS, counts, known_page, proofs, proofs_page
from tests.proofs.recompute import build_known, score_responses, write_frozen
from tests.proofs.scripts import SCRIPTS, compare

DOCS = Path(__file__).parent.parent.parent / "docs"


def freeze(benchmark: KnownBenchmark, folder: Path) -> int:
    """Recompute and freeze a benchmark; returns the number of its questions."""
    questions, task = build_known(benchmark, folder)
    if benchmark.responses:
        points = {
            model: score_responses(task, questions, responses)
            for model, responses in benchmark.responses(folder)
        }
        write_frozen(benchmark, points)
    return len(questions)


def run_tests(paths: str) -> str:
    """Run tests; returns how many passed and were skipped, with the day."""
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-m", "long or not long", paths]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    summary, _, _ = output.strip().splitlines()[-1].partition(" in ")
    results = [result for result in summary.split(", ") if "warning" not in result]
    return ", ".join([*results, today()])


def today() -> str:
    """The day, in UTC."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def main(folder: Path, *, tests: bool) -> None:
    """Recompute every benchmark with a checkout, and write both pages."""
    row_counts = counts() if COUNTS.exists() else {}
    for benchmark in BENCHMARKS:
        checkout = folder / benchmark.checkout_name
        if not checkout.is_dir():
            print(f"{benchmark.title}: no {checkout}; the frozen points stay")
            continue
        n_kept = freeze(benchmark, checkout)
        row_counts[benchmark.name] = {"kept": n_kept, "day": today()}
        print(f"{benchmark.title}: {n_kept} of {benchmark.n_rows} rows")
    COUNTS.write_text(f"{json.dumps(row_counts, indent=1)}\n", encoding="utf-8")
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for script in SCRIPTS:
        if agreement := compare(script, folder):
            results[script.title] = f"{agreement}, {today()}"
    for proof in proofs() if tests else ():
        results[proof["tests"]] = run_tests(proof["tests"])
        print(f"{proof['tests']}: {results[proof['tests']]}")
    RESULTS.write_text(f"{json.dumps(results, indent=1)}\n", encoding="utf-8")
    (DOCS / "known-benchmarks.md").write_text(known_page(), encoding="utf-8")
    (DOCS / "proofs.md").write_text(proofs_page(), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.proofs", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-tests", action="store_true", help="keep the results of the tests")
    arguments = parser.parse_args()
    main(arguments.folder, tests=not arguments.no_tests)
