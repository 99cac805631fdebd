"""What every memory of vectors must do: one table, run on the file and on the database."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bench_assets.core.schema.chat import Vectors
from bench_resources.encoders.caching_encoder import CachingEncoder
from bench_resources.storage.vectors import (
    VectorCache,
    is_intact_vector,
    merge_vectors,
)
from tests.fakes.stores import vector_file
from tests.resources.encoders.test_caching_encoder import Counting, change


@pytest.fixture(params=["a file", pytest.param("PostgreSQL", marks=pytest.mark.long)])
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], VectorCache]:
    """Opens the same memory again and again."""
    if request.param == "a file":
        return lambda: vector_file(tmp_path / "home" / "vectors.sqlite")
    pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
    from bench_resources.cluster.postgres import PostgresDatabase

    address = request.getfixturevalue("database_address")
    return lambda: VectorCache(PostgresDatabase(address, "V"))


@pytest.fixture
def known(another: Callable[[], VectorCache]) -> VectorCache:
    return another()


def vector(*numbers: float) -> Vectors:
    return np.array(numbers, np.float32)


@pytest.mark.parametrize(
    ("encoder", "key", "one"),
    [
        pytest.param("e@1", "text:0a", vector(1 / 3, -0.0, 1e-45), id="numbers to the last bit"),
        pytest.param("e", "k", np.arange(10_000, dtype=np.float32), id="very many dimensions"),
    ],
)
def test_a_vector_comes_back_as_it_was(
    another: Callable[[], VectorCache], encoder: str, key: str, one: Vectors
) -> None:
    another().put(encoder, {key: one})
    vectors = another().get(encoder, [key, "never put", key])
    assert vectors.keys() == {key}
    assert vectors[key].tobytes() == one.tobytes()
    assert another().get(f"{encoder}2", [key]) == {}


def test_of_two_under_one_key_the_later_one_is_found(known: VectorCache) -> None:
    known.put("e", {"k": vector(1), "l": vector(2)})
    known.put("e", {"k": vector(3)})
    known.put("f", {"k": vector(4)})
    vectors = known.get("e", ["k", "l"])
    assert {key: one.tolist() for key, one in vectors.items()} == {"k": [3.0], "l": [2.0]}
    assert known.get("e", []) == {}
    known.put("e", {})


def test_more_than_one_statement_takes_are_kept_found_and_listed(known: VectorCache) -> None:
    known.put("e", {str(n): vector(n) for n in range(2_500)})
    vectors = known.get("e", [str(n) for n in range(2_600)])
    assert {key: one.tolist() for key, one in vectors.items()} == {
        str(n): [float(n)] for n in range(2_500)
    }
    stored = list(known.stored())
    assert sorted(int(key) for _, key, _, _ in stored) == list(range(2_500))
    assert all(is_intact_vector(*one) for one in stored)


def test_nothing_is_embedded_twice(another: Callable[[], VectorCache]) -> None:
    work = Counting()
    first, again = (
        CachingEncoder("e", work, another(), 2).encode_texts(["a", "bb", "ccc"]) for _ in range(2)
    )
    assert np.array_equal(first, again)
    assert work.n == 3


def test_what_is_merged_is_whole_and_what_was_there_stays(
    known: VectorCache, tmp_path: Path
) -> None:
    source = vector_file(tmp_path / "other.sqlite")
    source.put("e", {str(n): vector(n) for n in range(1_200)})
    source.put("f", {"k": vector(5)})
    change(tmp_path / "other.sqlite", "UPDATE vectors SET vector = x'00000000' WHERE key = '7'")
    known.put("e", {"3": vector(33)})
    for _ in range(2):  # begun again, it comes to the same
        merged = merge_vectors(known, source)
        assert (merged.vectors, merged.left_out) == (1_200, 1)
    vectors = known.get("e", ["3", "7", "1199"])
    assert {key: one.tolist() for key, one in vectors.items()} == {"3": [33.0], "1199": [1199.0]}
    assert known.get("f", ["k"])["k"].tolist() == [5.0]
    assert len(list(source.stored())) == 1_201
