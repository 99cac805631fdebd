"""Modules of the page: their tests in Node, and their statistics against ``paired_tests``."""

import math
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bench_assets.core.stats.paired_tests import (
    PairedScores,
    change_interval,
    holm,
    mean_change,
    paired_t_test,
)
from tests.report.static.node import NO_NODE, NODE, run_module

pytestmark = pytest.mark.skipif(not NODE, reason=NO_NODE)

N_VECTORS = 500
PAIRED_TESTS = """
import { pairedTest } from "APP/compare/statistics.js";
output = input.map(pairedTest);
"""
HOLM = 'import { holm } from "APP/compare/statistics.js"; output = input.map(holm);'
Generator = np.random.Generator


def cluster_names(n: int, rng: Generator) -> list[str]:
    """Names for n units: alone, in fours, 70 % in one, in clusters of any size, or in two."""
    kind = rng.integers(5)
    if kind == 0:
        return [str(i) for i in range(n)]
    if kind == 1:
        return [str(i // 4) for i in range(n)]
    if kind == 2:
        return ["most" if i < 0.7 * n else str(i) for i in range(n)]
    if kind == 3:
        return [str(int(share)) for share in rng.exponential(3, n)]
    return [str(i % 2) for i in range(n)]


def points(n: int, weights: np.ndarray, kind: int, rng: Generator) -> np.ndarray:
    """Points of n units: all or none, quarters, any share, or any number, even above the weight."""
    if kind == 0:
        return weights * (rng.random(n) < rng.random())
    if kind == 1:
        return weights * rng.integers(0, 5, n) / 4
    if kind == 2:
        return weights * rng.random(n)
    return rng.gamma(1.5, 2.0, n)


def random_pairs(seed: int) -> list[PairedScores]:
    """Units of two models: of any number, weight, kind of points and clusters."""
    rng = np.random.default_rng(seed)
    most_units = (6, 40, 300)[seed % 3]
    n = int(rng.integers(2, most_units))
    weights = np.ones(n) if rng.random() < 0.6 else rng.integers(1, 6, n).astype(float)
    kind = int(rng.integers(4))
    before, after = points(n, weights, kind, rng), points(n, weights, kind, rng)
    if rng.random() < 0.3:  # most questions do not change
        after = np.where(rng.random(n) < 0.9, before, after)
    if rng.random() < 0.4:  # one model is better
        after = np.where(rng.random(n) < 0.5, weights, after)
    clusters = cluster_names(n, rng)
    rows = zip(before.tolist(), after.tolist(), clusters, weights.tolist(), strict=True)
    return [PairedScores(*row) for row in rows]


def as_page(pairs: list[PairedScores]) -> list[dict[str, object]]:
    """Pairs as ``pairedTest`` takes them: each with its gain and the number of its cluster."""
    names = list(dict.fromkeys(pair.cluster for pair in pairs))
    return [
        {
            "unit": i,
            "gained": pair.after - pair.before,
            "weight": pair.most,
            "share": min(pair.before, pair.after) >= 0
            and max(pair.before, pair.after) <= pair.most + 1e-6,
            "cluster": names.index(pair.cluster),
        }
        for i, pair in enumerate(pairs)
    ]


def approximate(bound: float) -> object:
    """What equals a bound of an interval on the page: null if it is infinite, as JSON has it."""
    return None if math.isinf(bound) else pytest.approx(bound, abs=1e-8)


@pytest.fixture(scope="module")
def vectors() -> list[list[PairedScores]]:
    return [random_pairs(seed) for seed in range(N_VECTORS)]


def test_the_page_finds_the_change_interval_and_p_of_500_vectors(vectors) -> None:
    results = run_module(PAIRED_TESTS, list(map(as_page, vectors)))
    for pairs, result in zip(vectors, results, strict=True):
        assert result["change"] == pytest.approx(mean_change(pairs), abs=1e-12)
        assert result["p"] == pytest.approx(paired_t_test(pairs), rel=1e-6, abs=1e-12)
        assert [result["low"], result["high"]] == list(map(approximate, change_interval(pairs)))


def test_the_page_corrects_p_values_as_holm_does(vectors) -> None:
    families = [[paired_t_test(pairs) for pairs in vectors[i::50]] for i in range(50)]
    for p_values, corrected in zip(families, run_module(HOLM, families), strict=True):
        assert corrected == pytest.approx(holm(p_values), rel=1e-12)


FOLDER = Path(__file__).parent / "app"
FILES = sorted(FOLDER.rglob("*.test.js"))


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_the_javascript_tests_of_a_module_pass(file: Path) -> None:
    process = subprocess.run([*NODE, "--test", file], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout
