"""``python -m tests.proofs FOLDER``: recompute the proofs, freeze them, and write their pages.

FOLDER holds checkouts by the name of their repository (``FOLDER/MathVista``). A benchmark whose
checkout is absent keeps what is frozen, with a sentence.
"""

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
    """Recompute a benchmark; returns the rows kept."""
    built, task = build_known(benchmark, folder)
    if benchmark.responses:
        points = {
            model: score_responses(task, built.questions, answered)
            for model, answered in benchmark.responses(folder)
        }
        write_frozen(benchmark, points)
    return len(built.questions)


def run_tests(paths: str) -> str:
    """Run tests; returns how many passed and were skipped, with the day."""
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-m", "long or not long", paths]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    counts_of = found.stdout.strip().splitlines()[-1].partition(" in ")[0].split(", ")
    return ", ".join([*(count for count in counts_of if "warning" not in count), today()])


def today() -> str:
    """The day, in UTC."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def main(folder: Path, *, tests: bool) -> None:
    """Recompute what is there, and write both pages."""
    kept = counts() if COUNTS.exists() else {}
    for benchmark in BENCHMARKS:
        checkout = folder / benchmark.repository.partition("/")[2]
        if not checkout.is_dir():
            print(f"{benchmark.title}: no {checkout}; what is frozen stays")
            continue
        kept[benchmark.name] = {"kept": freeze(benchmark, checkout), "day": today()}
        print(f"{benchmark.title}: {kept[benchmark.name]['kept']} of {benchmark.n_rows} rows")
    COUNTS.write_text(f"{json.dumps(kept, indent=1)}\n", encoding="utf-8")
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for script in SCRIPTS:
        if equal := compare(script, folder):
            results[script.title] = f"{equal}, {today()}"
    for proof in proofs() if tests else ():
        results[proof["tests"]] = run_tests(proof["tests"])
        print(f"{proof['tests']}: {results[proof['tests']]}")
    RESULTS.write_text(f"{json.dumps(results, indent=1)}\n", encoding="utf-8")
    (DOCS / "known-benchmarks.md").write_text(known_page(), encoding="utf-8")
    (DOCS / "proofs.md").write_text(proofs_page(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), tests="--no-tests" not in sys.argv)
