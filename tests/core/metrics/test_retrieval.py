"""Rankings against brute force, with ties; what distractors and k can do; the memory it takes."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_assets.core.metrics.retrieval import nearest, recall_at


def brute_force(queries, candidates, right, own, k):
    """The same, candidate by candidate, in Python."""
    everyone = set(range(len(candidates))) - {i for indices in own for i in indices}
    found = []
    for number, query in enumerate(queries):
        pool = sorted(everyone | set(own[number]))
        like = {i: round(float(np.dot(query, candidates[i])), 6) for i in pool}
        pool.sort(key=lambda i: (-like[i], i in right[number], i))
        found.append(pool[:k])
    return found


@st.composite
def retrieval_problems(draw):
    """Queries and candidates with coordinates -1, 0 and 1: half of all similarities are ties."""
    n_queries, n_shared = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    n_own = draw(st.integers(0, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = n_shared + n_queries * n_own
    right = [sorted(set(rng.integers(0, n_shared, 2).tolist())) for _ in range(n_queries)]
    own = [list(range(n_shared + q * n_own, n_shared + (q + 1) * n_own)) for q in range(n_queries)]
    vectors = rng.integers(-1, 2, (n_queries + n, 3)).astype(np.float32)
    return vectors[:n_queries], vectors[n_queries:], right, own


@given(retrieval_problems(), st.integers(1, 12))
def test_rankings_are_those_of_brute_force(problem, k):
    queries, candidates, right, own = problem
    found = [ranking.tolist() for ranking in nearest(queries, candidates, right, own, k)]
    assert found == brute_force(queries, candidates, right, own, k)


def recall(k, ranking, right):
    return recall_at(k, list(map(str, ranking)), list(map(str, right)))


def test_a_model_that_finds_everything_alike_finds_nothing():
    alike = np.ones((20, 1), np.float32)
    (ranking,) = nearest(alike[:1], alike, [[0, 5]], [[]], 10)
    assert recall(10, ranking, [0, 5]) == 0


@pytest.mark.parametrize("n_own", [pytest.param(0, marks=pytest.mark.long), 4])
def test_memory_is_bounded(n_own):
    n_queries, n_shared = 1000, 20_000
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((n_queries + n_shared + n_own * n_queries, 8), np.float32)
    own = [list(range(n_shared + q * n_own, n_shared + (q + 1) * n_own)) for q in range(n_queries)]
    tracemalloc.start()
    nearest(vectors[:n_queries], vectors[n_queries:], [[0]] * n_queries, own, 10)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50 * 2**20  # all similarities at once would take 80 MB and more


def test_a_right_one_comes_before_what_is_less_like_by_one_millionth():
    query = np.array([[1, 0]], np.float32)
    candidates = np.array([[0.5, 0], [0.500001, 0], [0.500001, 0]], np.float32)
    (ranking,) = nearest(query, candidates, [[1]], [[]], 3)
    assert ranking.tolist() == [2, 1, 0]  # after the one that is as like
