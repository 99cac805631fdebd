import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_assets.core.metrics.retrieval import nearest, recall_at


def rank_by_brute_force(queries, candidates, right, own, k):
    """The rankings of ``nearest``, candidate by candidate, in Python."""
    shared = set(range(len(candidates))).difference(*own)
    rankings = []
    for query, right_indices, own_indices in zip(queries, right, own, strict=True):
        pool = sorted(shared | set(own_indices))
        similarity = {i: round(float(np.dot(query, candidates[i])), 6) for i in pool}
        # Of equally similar candidates the right ones come last.
        pool.sort(key=lambda i: (-similarity[i], i in right_indices, i))
        rankings.append(pool[:k])
    return rankings


def own_candidates(n_queries, n_shared, n_own):
    """Indices of the candidates of each query alone; they follow the shared ones."""
    starts = [n_shared + query * n_own for query in range(n_queries)]
    return [list(range(start, start + n_own)) for start in starts]


@st.composite
def retrieval_problems(draw):
    """Queries and candidates with coordinates -1, 0 and 1: half of all similarities are ties."""
    n_queries, n_shared = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    n_own = draw(st.integers(0, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = n_shared + n_queries * n_own
    right = [sorted(set(rng.integers(0, n_shared, 2).tolist())) for _ in range(n_queries)]
    vectors = rng.integers(-1, 2, (n_queries + n, 3)).astype(np.float32)
    own = own_candidates(n_queries, n_shared, n_own)
    return vectors[:n_queries], vectors[n_queries:], right, own


@given(retrieval_problems(), st.integers(1, 12))
def test_rankings_are_those_of_brute_force(problem, k):
    queries, candidates, right, own = problem
    rankings = [ranking.tolist() for ranking in nearest(queries, candidates, right, own, k)]
    assert rankings == rank_by_brute_force(queries, candidates, right, own, k)


def test_a_model_with_constant_similarity_has_no_recall():
    constant = np.ones((20, 1), np.float32)
    (ranking,) = nearest(constant[:1], constant, [[0, 5]], [[]], 10)
    assert recall_at(10, [str(index) for index in ranking], ["0", "5"]) == 0


@pytest.mark.parametrize("n_own", [pytest.param(0, marks=pytest.mark.long), 4])
def test_memory_is_bounded(n_own):
    n_queries, n_shared = 1000, 20_000
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((n_queries + n_shared + n_own * n_queries, 8), np.float32)
    own = own_candidates(n_queries, n_shared, n_own)
    tracemalloc.start()
    nearest(vectors[:n_queries], vectors[n_queries:], [[0]] * n_queries, own, 10)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50 * 2**20  # all similarities at once would take 80 MB and more


def test_a_difference_of_one_millionth_decides_before_the_right_candidate_comes_last():
    query = np.array([[1, 0]], np.float32)
    candidates = np.array([[0.5, 0], [0.500001, 0], [0.500001, 0]], np.float32)
    (ranking,) = nearest(query, candidates, [[1]], [[]], 3)
    assert ranking.tolist() == [2, 1, 0]
