"""A subset of a question table: a sample with the shares of the whole, or some categories."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from bench_assets.core.schema.errors import UnknownNameError
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.task import Task

_SEED = 0  # fixed, so that all models get the same questions


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSubset:
    """A subset of a question table; groups (pairs, problems of several parts) stay together."""

    limit: int = 0  # most questions of a task, but at least one group; 0: all
    categories: tuple[str, ...] = ()  # as in tables of metrics; (): all

    def of(self, task: Task, questions: Sequence[Question]) -> list[Question]:
        """Draw from a task's questions; keeps the order of the table.

        Stratified by category. Sampled by a digest of each group's id, so that a larger subset
        contains the smaller ones.
        """
        groups = [
            group
            for group in _groups(questions)
            if not self.categories or set(self.categories) & slice_names(task, group)
        ]
        drawn: set[str] = set()
        for group in _spread(groups):
            if self.limit and drawn and len(drawn) + len(group) > self.limit:
                break
            drawn |= {question.question_id for question in group}
        return [question for question in questions if question.question_id in drawn]

    def check(self, tables: Iterable[tuple[Task, Sequence[Question]]]) -> None:
        """Check that each category exists in some task.

        Raises:
            UnknownNameError: If one does not.
        """
        if self.categories:
            known = {name for task, questions in tables for name in slice_names(task, questions)}
            for name in self.categories:
                if name not in known:
                    raise UnknownNameError("category", name, known)


WHOLE = QuestionSubset()


def slice_names(task: Task, questions: Iterable[Question]) -> set[str]:
    """Names of the categories and slices that questions are in."""
    return {
        name
        for question in questions
        for name in (question.category, *task.slices(question))
        if name
    }


def _groups(questions: Sequence[Question]) -> list[list[Question]]:
    groups: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        groups[question.group_id or question.question_id].append(question)
    return list(groups.values())


def _spread(groups: Iterable[list[Question]]) -> list[list[Question]]:
    """Order groups so that every prefix has about the category shares of the whole."""
    by_category: dict[str, list[list[Question]]] = defaultdict(list)
    for group in sorted(groups, key=_draw):
        by_category[group[0].category].append(group)
    placed = (position for group in by_category.values() for position in _spread_positions(group))
    return [group for _, _, group in sorted(placed, key=lambda one: one[:2])]


def _spread_positions(
    groups: Sequence[list[Question]],
) -> Iterator[tuple[float, bytes, list[Question]]]:
    """Position of each group's middle within its category, in [0, 1]."""
    total, before = sum(map(len, groups)), 0
    for group in groups:
        yield (before + len(group) / 2) / total, _draw(group), group
        before += len(group)


def _draw(group: Sequence[Question]) -> bytes:
    first = group[0]
    return sha256(f"{_SEED}/{first.group_id or first.question_id}".encode()).digest()
