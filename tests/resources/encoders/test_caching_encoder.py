"""Vectors are as they were written, or computed anew."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from bench_assets.core.schema.chat import Vectors
from bench_assets.core.schema.errors import HomeError
from bench_resources.encoders.caching_encoder import CachingEncoder
from tests.fakes.stores import vector_file


class Counting:
    """Embeds a text by its length, and counts."""

    n = 0

    def texts(self, texts: Sequence[str]) -> Vectors:
        self.n += len(texts)
        return np.array([[len(text), 1] for text in texts], np.float32)

    images = texts


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "vectors.sqlite"


def change(file: Path, sql: str) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        db.execute(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE vectors SET vector = (SELECT vector FROM vectors ORDER BY vector DESC LIMIT 1)",
        "UPDATE vectors SET vector = x'00'",
        "UPDATE vectors SET vector = 'text'",
        "UPDATE vectors SET vector = NULL",
        "UPDATE vectors SET digest = 'other'",
        "UPDATE vectors SET key = 'text:' || key",
    ],
)
def test_a_damaged_vector_is_computed_anew(file: Path, sql: str) -> None:
    work = Counting()
    encoder = CachingEncoder("e", work, vector_file(file), batch_size=8)
    first = encoder.encode_texts(["a", "bbb"])
    change(file, sql)
    assert np.array_equal(encoder.encode_texts(["a", "bbb"]), first)
    assert work.n in (3, 4)  # one may be where it was
    assert np.array_equal(encoder.encode_texts(["a", "bbb"]), first)
    assert work.n in (3, 4)


@pytest.mark.parametrize("damaged", [b"\0" * 4096, b"PAR1"], ids=["noughts", "something else"])
def test_a_damaged_file_says_what_to_do(file: Path, damaged: bytes) -> None:
    file.write_bytes(damaged)
    with pytest.raises(HomeError, match=r"vectors.sqlite: damaged .*move it away"):
        vector_file(file).get("e", ["k"])
