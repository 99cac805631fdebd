"""A part of a question table: a few questions of each task, or some of its categories."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from bench_assets.core.schema.errors import UnknownNameError
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.task import Task

_SEED = 0  # of the draw: the same questions for every model, and every time


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSubset:
    """What of a table is asked; groups (pairs, problems of several parts) are never divided."""

    limit: int = 0  # most questions of a task, but at least one group; 0: all
    categories: tuple[str, ...] = ()  # as results tables name them; (): all

    def of(self, task: Task, questions: Sequence[Question]) -> list[Question]:
        """Draw from a task's questions; keeps the order of the table.

        The categories have the shares that they have in the table. Drawn by a digest of each
        group's id, so that a larger part has the smaller ones in it.
        """
        groups = [
            group
            for group in _groups(questions)
            if not self.categories or set(self.categories) & _slices(task, group)
        ]
        drawn: set[str] = set()
        for group in _spread(groups):
            if self.limit and drawn and len(drawn) + len(group) > self.limit:
                break
            drawn |= {question.question_id for question in group}
        return [question for question in questions if question.question_id in drawn]

    def check(self, tables: Iterable[tuple[Task, Sequence[Question]]]) -> None:
        """Look whether each category is one of some task.

        Raises:
            UnknownNameError: If one is not.
        """
        if self.categories:
            known = {name for task, questions in tables for name in _slices(task, questions)}
            for name in self.categories:
                if name not in known:
                    raise UnknownNameError("category", name, known)


WHOLE = QuestionSubset()


def _slices(task: Task, questions: Iterable[Question]) -> set[str]:
    return {name for one in questions for name in (one.category, *task.slices(one)) if name}


def _groups(questions: Sequence[Question]) -> list[list[Question]]:
    groups: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        groups[question.group_id or question.question_id].append(question)
    return list(groups.values())


def _spread(groups: Iterable[list[Question]]) -> list[list[Question]]:
    """Order groups so that each beginning has about the categories' shares of the whole."""
    by_category: dict[str, list[list[Question]]] = defaultdict(list)
    for group in sorted(groups, key=_draw):
        by_category[group[0].category].append(group)
    placed = (one for group in by_category.values() for one in _placed(group))
    return [group for _, _, group in sorted(placed, key=lambda one: one[:2])]


def _placed(groups: Sequence[list[Question]]) -> Iterator[tuple[float, bytes, list[Question]]]:
    """Where in its category the middle of each group lies, in [0, 1]."""
    total, before = sum(map(len, groups)), 0
    for group in groups:
        yield (before + len(group) / 2) / total, _draw(group), group
        before += len(group)


def _draw(group: Sequence[Question]) -> bytes:
    first = group[0]
    return sha256(f"{_SEED}/{first.group_id or first.question_id}".encode()).digest()
