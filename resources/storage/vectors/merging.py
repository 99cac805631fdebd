"""Vectors of one store taken into another, so that nothing is embedded again where a home moves."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice

import numpy as np

from bench_assets.core.schema.chat import Vectors
from bench_assets.core.schema.errors import HomeError
from resources.storage.vectors.store import KnownVectors, StoredVector, is_whole

_AT_ONCE = 1000  # vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedVectors:
    """What became of the vectors of a store."""

    source: str
    target: str
    vectors: int  # whole ones, all of which are in the target now
    left_out: int  # damaged ones: the source keeps them


def merge_vectors(target: KnownVectors, source: KnownVectors) -> MergedVectors:
    """Take every whole vector over that is not there, and look that it is; the source stays.

    What is there stays as it is: numbers were made of it. Ended half way, it may be begun again.

    Raises:
        HomeError: If one cannot be read or written, or was not there after it was written.
    """
    n = n_left_out = 0
    rows = source.stored()
    while part := list(islice(rows, _AT_ONCE)):
        whole = [one for one in part if is_whole(*one) and _can_move(one)]
        for encoder, vectors in _by_encoder(whole):
            _move(target, encoder, vectors)
        n += len(whole)
        n_left_out += len(part) - len(whole)
    return MergedVectors(source=source.place, target=target.place, vectors=n, left_out=n_left_out)


def _move(target: KnownVectors, encoder: str, vectors: dict[str, Vectors]) -> None:
    there = target.get(encoder, list(vectors))
    target.put(encoder, {key: one for key, one in vectors.items() if key not in there})
    if missing := vectors.keys() - target.get(encoder, list(vectors)).keys():
        raise HomeError(
            f"{target.place}: {len(missing)} vectors are not there that were just written, such as"
            f" {min(missing)}; nothing was deleted: try again"
        )


def _by_encoder(rows: list[StoredVector]) -> Iterator[tuple[str, dict[str, Vectors]]]:
    for encoder, of in groupby(sorted(rows, key=lambda one: one[0]), key=lambda one: one[0]):
        yield encoder, {key: np.frombuffer(vector, np.float32) for _, key, vector, _ in of}


def _can_move(row: StoredVector) -> bool:
    """Whether a database takes its names: letters, none of them half, and none of number 0."""
    return all(
        isinstance(one, str) and "\0" not in one and one == one.encode(errors="replace").decode()
        for one in row[:2]
    )
