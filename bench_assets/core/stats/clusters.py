"""Clusters of questions that are right or wrong together: those of one group, or with one image."""

from collections.abc import Iterable, Iterator, Sequence

from bench_assets.core.schema.rows import Question


def cluster_questions(questions: Sequence[Question]) -> dict[str, str]:
    """Cluster questions that share a group or all images, transitively.

    Returns:
        Cluster by question id; a question that shares nothing is a cluster of its own.
    """
    firsts = cluster_numbers(questions)
    names = [question.question_id for question in questions]
    return {name: names[first] for name, first in zip(names, firsts, strict=True)}


def cluster_numbers(questions: Iterable[Question]) -> list[int]:
    """Index of the first question of each question's cluster; see ``cluster_questions``."""
    leads, first_with = list[int](), dict[str, int]()

    def root(number: int) -> int:
        while leads[number] != number:
            leads[number] = number = leads[leads[number]]
        return number

    for number, question in enumerate(questions):
        leads.append(number)
        for name in _shared(question):
            low, high = sorted((root(first_with.setdefault(name, number)), root(number)))
            leads[high] = low
    return list(map(root, range(len(leads))))


def _shared(question: Question) -> Iterator[str]:
    """Keys that questions of one cluster have in common."""
    if question.group_id:
        yield f"group {question.group_id}"
    if question.images:
        yield f"images {' '.join(question.images)}"


def pair_key(question: Question) -> str:
    """Name of the unit that a question makes with its group."""
    return f"pair {question.group_id}" if question.group_id else question.question_id
