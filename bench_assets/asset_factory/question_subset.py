"""A subset of a question table: a sample with the shares of the whole, or some categories."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from bench_assets.core.schema.errors import UnknownNameError
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.task import Task

_SEED = 0  # seed of the draw, fixed so that all models get the same questions


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSubset:
    """A subset of a question table; groups (pairs, problems of several parts) stay together."""

    limit: int = 0  # most questions of a task, but at least one group; 0: all
    categories: tuple[str, ...] = ()  # as in tables of metrics; (): all

    def select(self, task: Task, questions: Sequence[Question]) -> list[Question]:
        """Select from a task's questions, in the order of the table.

        Groups are drawn by a digest of their ids, stratified by category, so that a larger subset
        contains the smaller ones.
        """
        groups = [
            group
            for group in _groups(questions)
            if not self.categories or set(self.categories) & slice_names(task, group)
        ]
        drawn_ids: set[str] = set()
        for group in _interleave_categories(groups):
            if self.limit and drawn_ids and len(drawn_ids) + len(group) > self.limit:
                break
            drawn_ids |= {question.question_id for question in group}
        return [question for question in questions if question.question_id in drawn_ids]

    def check(self, tables: Iterable[tuple[Task, Sequence[Question]]]) -> None:
        """Check that each category exists in some task.

        Raises:
            UnknownNameError: If one does not.
        """
        if not self.categories:
            return
        known_names = {name for task, questions in tables for name in slice_names(task, questions)}
        for category in self.categories:
            if category not in known_names:
                raise UnknownNameError("category", category, known_names)


WHOLE = QuestionSubset()


def slice_names(task: Task, questions: Iterable[Question]) -> set[str]:
    """Names of the categories and slices that questions are in."""
    names: set[str] = set()
    for question in questions:
        names.update([question.category, *task.slices(question)])
    return names - {""}


class _PlacedGroup(NamedTuple):
    """A group of questions, and the middle of its range within its category, in [0, 1]."""

    middle: float
    digest: bytes
    questions: list[Question]


def _groups(questions: Sequence[Question]) -> list[list[Question]]:
    """Group questions by group id; a question without one is a group by itself."""
    groups: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        groups[question.group_id or question.question_id].append(question)
    return list(groups.values())


def _interleave_categories(groups: Iterable[list[Question]]) -> list[list[Question]]:
    """Order groups so that every prefix has about the category shares of the whole."""
    by_category: dict[str, list[list[Question]]] = defaultdict(list)
    for group in sorted(groups, key=_group_digest):
        by_category[group[0].category].append(group)
    placed: list[_PlacedGroup] = []
    for category_groups in by_category.values():
        placed += _place_groups(category_groups)
    placed.sort(key=lambda group: (group.middle, group.digest))
    return [group.questions for group in placed]


def _place_groups(groups: Sequence[list[Question]]) -> Iterator[_PlacedGroup]:
    """Place the groups of one category one after another in [0, 1], each as long as its share."""
    n_questions = sum(map(len, groups))
    n_placed = 0
    for group in groups:
        yield _PlacedGroup(
            middle=(n_placed + len(group) / 2) / n_questions,
            digest=_group_digest(group),
            questions=group,
        )
        n_placed += len(group)


def _group_digest(group: Sequence[Question]) -> bytes:
    """Digest of a group's id, which takes the place of a random draw."""
    first = group[0]
    return sha256(f"{_SEED}/{first.group_id or first.question_id}".encode()).digest()
