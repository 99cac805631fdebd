"""Do the tests notice faults? Puts some into the code, one at a time, and runs the tests on each.

``make mutants`` makes forty, drawn with a seed, in what gives points: ``core``, the pipeline, the
suites' scoring and the regression check. A fault is small and plausible: a comparison turned
around, a number off by one, a branch left out. Tests run in copies of the tree, two at a time; of a
file those that mirror it and those that import it. A fault that no test notices is printed; some
make no difference (equal values on both sides of a ``<``), so that two in forty may stay.

A fault that makes a loop without end is noticed by the seconds of CPU that its tests take, which
are the same on a busy machine; tests that only wait, longer than any, say nothing of a fault.
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
from tests.mutants.mutations import count, plain, with_fault

MUTATED = (
    "bench_assets/core/**/*.py",
    "bench_assets/evaluation/pipeline.py",
    "bench_assets/suites/**/scoring.py",
    "bench_assets/defs/checks/regression.py",
)
WORKERS = 2
MOST_SURVIVORS = 0.05  # share of the faults
LONGEST = 300  # s of CPU for the tests of one fault; a loop without end is noticed too
_SLOW = re.compile(r"\b(?:dagster|Workbench|torch|shared_data)\b|\bmini[._(]|\.mini\b")
WAITED = 3600  # s on the clock, however busy the machine is


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One fault: the n-th that can be put into a file."""

    file: str  # below the checkout
    number: int

    def written(self, root: Path) -> str:
        """The file with the fault in it."""
        return with_fault((root / self.file).read_text(encoding="utf-8"), self.number)

    def diff(self) -> str:
        """What the fault is, without comments and blank lines."""
        before = plain((CHECKOUT / self.file).read_text(encoding="utf-8")).splitlines()
        after = self.written(CHECKOUT).splitlines()
        return "\n".join(difflib.unified_diff(before, after, self.file, self.file, "", "", 2, ""))


def main() -> None:
    """Draw faults, try them, print which were noticed; fails if too many were not."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("files", nargs="*", help="only in these files")
    chosen = parser.parse_args()
    mutants = draw(chosen.faults, chosen.seed, chosen.files or _files())
    whole = sorted({test for mutant in mutants for test in tests_of(mutant.file)})
    if why := failure(CHECKOUT, whole, longest=None):
        raise SystemExit(f"without any fault: {why}")
    survivors = 0
    for mutant, why in tried(mutants):
        print(f"{'killed' if why else 'SURVIVED'} {mutant.file} #{mutant.number} {why}", flush=True)
        if not why:
            print(mutant.diff(), flush=True)
            survivors += 1
    print(f"{len(mutants) - survivors} of {len(mutants)} faults were noticed")
    raise SystemExit(survivors > MOST_SURVIVORS * len(mutants))


def draw(n: int, seed: int, files: Iterable[str]) -> list[Mutant]:
    """Draw faults, each once; a file has the more of them the more there is in it."""
    possible = [
        Mutant(file=file, number=number)
        for file in files
        for number in range(count((CHECKOUT / file).read_text(encoding="utf-8")))
    ]
    return sorted(Random(seed).sample(possible, n), key=lambda one: (one.file, one.number))


def tried(mutants: list[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """Run the tests of each fault; yields what pytest says of the one that failed, or ""."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for worker in range(WORKERS):
            trees.put(_copied(Path(folder, str(worker), "tree")))

        def noticed(mutant: Mutant) -> str:
            tree = trees.get()
            file = tree / mutant.file
            right = file.read_text(encoding="utf-8")
            file.write_text(mutant.written(tree), encoding="utf-8")
            try:
                return failure(tree, tests_of(mutant.file))
            finally:
                file.write_text(right, encoding="utf-8")
                trees.put(tree)

        with ThreadPoolExecutor(WORKERS) as threads:
            yield from zip(mutants, threads.map(noticed, mutants), strict=True)


def tests_of(file: str) -> list[str]:
    """Tests of a module: its own examples, the mirror of its folder, and what imports it.

    Of a suite's scoring all of the suite's folder is the mirror: a task is tested by its measures.

    A module that another of its folder is made of has that one's tests as well. What runs a graph,
    loads a model or draws a mini edition is left out: it takes longer than it notices.
    """
    module = Path(file)
    folder = Path(CHECKOUT, file).parent
    beside = [file.relative_to(CHECKOUT) for file in folder.glob("*.py") if _imports(file, module)]
    mirror = CHECKOUT / Path("tests", *module.parent.parts[1:])
    near = [
        test
        for one in (module, *beside)
        for place in (mirror, mirror.parent)
        for test in place.glob(f"test_*{one.stem}*.py")
    ]
    if module.stem == "scoring":
        near += [test for test in sorted(mirror.glob("test_*.py")) if _is_quick(test)]
    patterns = ("tests/core/**/test_*.py", "tests/suites/**/test_*.py", "tests/test_*.py")
    far = [
        test
        for pattern in patterns
        for test in sorted(CHECKOUT.glob(pattern))
        if any(_imports(test, one) for one in (module, *beside)) and _is_quick(test)
    ]
    found = dict.fromkeys([*near, *far]) or dict.fromkeys(mirror.glob("test_*.py"))
    return [file, *(str(test.relative_to(CHECKOUT)) for test in found)]


def _is_quick(test: Path) -> bool:
    return not _SLOW.search(test.read_text(encoding="utf-8"))


def failure(tree: Path, tests: Iterable[str], longest: int | None = LONGEST) -> str:
    """What pytest says of the first test that fails in a tree; "" if none does, or none ends."""
    command = [sys.executable, "-m", "pytest", "-qx", "-n0", "-p", "no:cacheprovider", *tests]
    if longest:  # the soft limit, whose signal tells it from a process that was killed for memory
        command = ["sh", "-c", f'ulimit -S -t {longest}; exec "$@"', "tests", *command]
    folders = map(str, (tree, tree / "resources", tree / "sensors"))
    path = os.pathsep.join([*folders, *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        ran = subprocess.run(
            command,
            cwd=tree,
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=WAITED if longest else None,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ""
    if ran.returncode == pytest.ExitCode.NO_TESTS_COLLECTED:
        return ""
    if ran.returncode == -signal.SIGXCPU:
        return f"no end after {longest} s of CPU"
    failures = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (
        "\n".join(failures[:1] or [f"pytest ended with {ran.returncode}"]) if ran.returncode else ""
    )


def _imports(file: Path, module: Path) -> bool:
    folder = ".".join(module.parent.parts)
    lines = (f"from {folder}.{module.stem} import ", f"from {folder} import {module.stem}\n")
    return any(line in file.read_text(encoding="utf-8") for line in lines)


def _copied(tree: Path) -> Path:
    copy_checkout(tree)
    if (shared := CHECKOUT.parent / "shared").is_dir():  # the authors' data
        (tree.parent / "shared").symlink_to(shared.resolve())
    return tree


def _files() -> list[str]:
    found = {file for pattern in MUTATED for file in CHECKOUT.glob(pattern)}
    return sorted(str(file.relative_to(CHECKOUT)) for file in found)


if __name__ == "__main__":
    main()
