"""Clusters of questions that are right or wrong together: those of one group, or with one image."""

from collections.abc import Iterable, Iterator, Sequence

from bench_assets.core.schema.rows import Question


def cluster_questions(questions: Sequence[Question]) -> dict[str, str]:
    """Cluster questions that share a group or all images, transitively.

    Returns:
        Cluster by question id; a question that shares nothing is a cluster of its own.
    """
    ids = [question.question_id for question in questions]
    first_indices = cluster_numbers(questions)
    return {name: ids[first] for name, first in zip(ids, first_indices, strict=True)}


def cluster_numbers(questions: Iterable[Question]) -> list[int]:
    """Index of the first question of each question's cluster; see ``cluster_questions``."""
    parents: list[int] = []  # a union-find forest: the root of a tree is its smallest index
    first_with_key: dict[str, int] = {}
    for index, question in enumerate(questions):
        parents.append(index)
        for key in _shared_keys(question):
            first = first_with_key.setdefault(key, index)
            low, high = sorted((_find_root(parents, first), _find_root(parents, index)))
            parents[high] = low
    return [_find_root(parents, index) for index in range(len(parents))]


def _find_root(parents: list[int], index: int) -> int:
    """Find the root of a tree, and shorten the path to it in ``parents``."""
    while parents[index] != index:
        parents[index] = parents[parents[index]]
        index = parents[index]
    return index


def _shared_keys(question: Question) -> Iterator[str]:
    """Keys that questions of one cluster have in common."""
    if question.group_id:
        yield f"group {question.group_id}"
    if question.images:
        yield f"images {' '.join(question.images)}"


def pair_key(question: Question) -> str:
    """Name of the unit that a question makes with its group."""
    return f"pair {question.group_id}" if question.group_id else question.question_id
