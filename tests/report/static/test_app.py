"""Modules of the page: tests of Node's own runner, and statistics held to ``paired_tests``."""

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
PAGE = """
import { holm, pairedTest } from "APP/compare/statistics.js";
output = { tested: input.pairs.map(pairedTest), corrected: input.p_values.map(holm) };
"""
Generator = np.random.Generator


def cluster_names(n: int, rng: Generator) -> list[str]:
    """Each unit alone, in groups of one size, in two clusters, or with one that has most."""
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
    """Right or wrong, shares in steps, shares of any size, or numbers beyond the weight."""
    if kind == 0:
        return weights * (rng.random(n) < rng.random())
    if kind == 1:
        return weights * rng.integers(0, 5, n) / 4
    if kind == 2:
        return weights * rng.random(n)
    return rng.gamma(1.5, 2.0, n)


def vector(seed: int) -> list[PairedScores]:
    """Units of two models: of any number, weight, kind of points and clusters."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, [6, 40, 300][seed % 3]))
    weights = np.ones(n) if rng.random() < 0.6 else rng.integers(1, 6, n).astype(float)
    kind = int(rng.integers(4))
    before, after = points(n, weights, kind, rng), points(n, weights, kind, rng)
    if rng.random() < 0.3:  # most questions do not change
        after = np.where(rng.random(n) < 0.9, before, after)
    if rng.random() < 0.4:  # one model is better
        after = np.where(rng.random(n) < 0.5, weights, after)
    columns = before.tolist(), after.tolist(), cluster_names(n, rng), weights.tolist()
    return [PairedScores(*row) for row in zip(*columns, strict=True)]


def as_page(pairs: list[PairedScores]) -> list[dict[str, object]]:
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


def test_the_page_finds_the_change_interval_and_p_of_500_vectors() -> None:
    vectors = [vector(seed) for seed in range(N_VECTORS)]
    p_values = [[paired_t_test(pairs).p for pairs in vectors[i::50]] for i in range(50)]
    page = run_module(PAGE, {"pairs": list(map(as_page, vectors)), "p_values": p_values})
    for pairs, found in zip(vectors, page["tested"], strict=True):
        assert found["change"] == pytest.approx(mean_change(pairs), abs=1e-12)
        assert found["p"] == pytest.approx(paired_t_test(pairs).p, rel=1e-6, abs=1e-12)
        low, high = change_interval(pairs)
        ends = (found["low"], found["high"])
        assert ends == ((None, None) if math.isinf(low) else pytest.approx((low, high), abs=1e-8))
    for plain, corrected in zip(p_values, page["corrected"], strict=True):
        assert corrected == pytest.approx(holm(plain), rel=1e-12)


FOLDER = Path(__file__).parent / "app"
FILES = sorted(FOLDER.rglob("*.test.js"))


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_a_module_does_what_its_tests_say(file: Path) -> None:
    done = subprocess.run([*NODE, "--test", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
