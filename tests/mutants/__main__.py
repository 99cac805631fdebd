"""Mutation tests: put one fault at a time into the code, and run the tests of the file on it.

``make mutants`` draws forty faults with a seed in the code that gives points: ``core``, the
pipeline, the suites' scoring and the regression check. A fault is small and plausible: a negated
comparison, a number off by one, a branch left out. Tests run in copies of the tree, two at a
time. A fault that no test notices is printed; some make no difference (equal values on both sides
of a ``<``), so two in forty may survive.

A fault that makes an endless loop is noticed by the CPU time of its tests, which does not depend on
the load of the machine; tests that only wait until the time limit do not count as failed.
"""

import argparse
import difflib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from random import Random

import pytest

from tests.fakes.plain_install import CHECKOUT, copy_checkout
from tests.mutants.mutations import count_faults, insert_fault, normalized

MUTATED = (
    "bench_assets/core/**/*.py",
    "bench_assets/evaluation/pipeline.py",
    "bench_assets/suites/**/scoring.py",
    "bench_assets/defs/checks/regression.py",
)
WORKERS = 2
MAX_SURVIVORS = 0.05  # share of the faults
CPU_LIMIT = 300  # s of CPU for the tests of one fault
_SLOW = re.compile(r"\b(?:dagster|Workbench|torch|shared_data)\b|\bmini[._(]|\.mini\b")
TIMEOUT = 3600  # s of wall time


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A file with one fault."""

    file: str  # below the checkout
    number: int  # of the fault, among those that can be put into the file

    def mutated_code(self, root: Path) -> str:
        """The code of the file in a tree, with the fault in it."""
        return insert_fault((root / self.file).read_text(encoding="utf-8"), self.number)

    def diff(self) -> str:
        """The fault as a diff, without comments and blank lines."""
        original = normalized((CHECKOUT / self.file).read_text(encoding="utf-8")).splitlines()
        mutated = self.mutated_code(CHECKOUT).splitlines()
        return "\n".join(
            difflib.unified_diff(original, mutated, self.file, self.file, n=2, lineterm="")
        )


def main() -> None:
    """Draw and try faults, print each result; exit with 1 if too many survive."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("files", nargs="*", help="only in these files")
    options = parser.parse_args()
    mutants = draw_mutants(options.faults, options.seed, options.files or _mutated_files())
    tests = sorted({test for mutant in mutants for test in tests_of(mutant.file)})
    if message := find_failure(CHECKOUT, tests, cpu_limit=None):
        raise SystemExit(f"without any fault: {message}")
    n_survivors = 0
    for mutant, message in try_mutants(mutants):
        result = "killed" if message else "SURVIVED"
        print(f"{result} {mutant.file} #{mutant.number} {message}", flush=True)
        if not message:
            print(mutant.diff(), flush=True)
            n_survivors += 1
    print(f"{len(mutants) - n_survivors} of {len(mutants)} faults were noticed")
    raise SystemExit(n_survivors > MAX_SURVIVORS * len(mutants))


def draw_mutants(n_faults: int, seed: int, files: Iterable[str]) -> list[Mutant]:
    """Draw different faults; each possible fault of each file has the same probability."""
    possible = [
        Mutant(file=file, number=number)
        for file in files
        for number in range(count_faults((CHECKOUT / file).read_text(encoding="utf-8")))
    ]
    drawn = Random(seed).sample(possible, n_faults)
    return sorted(drawn, key=lambda mutant: (mutant.file, mutant.number))


def try_mutants(mutants: list[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """Run the tests of each fault; yield pytest's line on the first failed test, or ""."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for worker in range(WORKERS):
            trees.put(_copy_tree(Path(folder, str(worker), "tree")))

        def try_mutant(mutant: Mutant) -> str:
            tree = trees.get()
            file = tree / mutant.file
            original = file.read_text(encoding="utf-8")
            file.write_text(mutant.mutated_code(tree), encoding="utf-8")
            try:
                return find_failure(tree, tests_of(mutant.file))
            finally:
                file.write_text(original, encoding="utf-8")
                trees.put(tree)

        with ThreadPoolExecutor(WORKERS) as threads:
            yield from zip(mutants, threads.map(try_mutant, mutants), strict=True)


def tests_of(file: str) -> list[str]:
    """Paths of the quick tests of a module.

    These are its doctests, the tests that mirror it or import it, and the same tests of modules in
    its folder that import it. The tests of a suite's scoring are all those of the suite. Tests that
    run a graph, load a model or draw a mini edition are left out, as they take too long.
    """
    module = Path(file)
    folder = Path(CHECKOUT, file).parent
    importers = [
        path.relative_to(CHECKOUT) for path in folder.glob("*.py") if _imports(path, module)
    ]
    modules = [module, *importers]
    mirror = CHECKOUT / Path("tests", *module.parent.parts[1:])
    tests: list[Path] = []
    for tested in modules:
        tests += mirror.glob(f"test_*{tested.stem}*.py")
        tests += mirror.parent.glob(f"test_*{tested.stem}*.py")
    if module.stem == "scoring":
        tests += filter(_is_quick, sorted(mirror.glob("test_*.py")))
    for pattern in ("tests/core/**/test_*.py", "tests/suites/**/test_*.py", "tests/test_*.py"):
        for test in sorted(CHECKOUT.glob(pattern)):
            if any(_imports(test, tested) for tested in modules) and _is_quick(test):
                tests.append(test)
    distinct = dict.fromkeys(tests or mirror.glob("test_*.py"))
    return [file, *(str(test.relative_to(CHECKOUT)) for test in distinct)]


def _is_quick(test: Path) -> bool:
    return not _SLOW.search(test.read_text(encoding="utf-8"))


def find_failure(tree: Path, tests: Iterable[str], cpu_limit: int | None = CPU_LIMIT) -> str:
    """Pytest's line on the first test that fails in a tree; "" if none fails, or time is over."""
    command = [sys.executable, "-m", "pytest", "-qx", "-n0", "-p", "no:cacheprovider", *tests]
    if cpu_limit:  # soft limit: its signal differs from that of a process killed for memory
        command = ["sh", "-c", f'ulimit -S -t {cpu_limit}; exec "$@"', "tests", *command]
    folders = map(str, (tree, tree / "resources", tree / "sensors"))
    path = os.pathsep.join([*folders, *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        process = subprocess.run(
            command,
            cwd=tree,
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=TIMEOUT if cpu_limit else None,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ""
    if process.returncode == pytest.ExitCode.NO_TESTS_COLLECTED:
        return ""
    if process.returncode == -signal.SIGXCPU:
        return f"no end after {cpu_limit} s of CPU"
    if process.returncode == pytest.ExitCode.OK:
        return ""
    for line in process.stdout.splitlines():
        if line.startswith(("FAILED", "ERROR")):
            return line
    return f"pytest ended with {process.returncode}"


def _imports(file: Path, module: Path) -> bool:
    folder = ".".join(module.parent.parts)
    lines = (f"from {folder}.{module.stem} import ", f"from {folder} import {module.stem}\n")
    return any(line in file.read_text(encoding="utf-8") for line in lines)


def _copy_tree(tree: Path) -> Path:
    copy_checkout(tree)
    if (shared := CHECKOUT.parent / "shared").is_dir():  # the authors' data
        (tree.parent / "shared").symlink_to(shared.resolve())
    return tree


def _mutated_files() -> list[str]:
    files = {file for pattern in MUTATED for file in CHECKOUT.glob(pattern)}
    return sorted(str(file.relative_to(CHECKOUT)) for file in files)


if __name__ == "__main__":
    main()
