"""The questions that models are compared on, read when they are needed: mostly none has changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bench_assets.core.schema.rows import Question
from bench_assets.core.schema.signature import short
from bench_assets.core.stats.paired_tests import clusters_of
from resources.tables.columns import read_columns
from resources.tables.parquet import TableFiles


@dataclass(frozen=True)
class ConditionQuestions:
    """The questions of a condition."""

    tables: TableFiles
    key: Sequence[str]

    @cached_property
    def questions(self) -> list[Question]:
        """The rows of the table."""
        return self.tables.read(self.key, Question)

    @cached_property
    def data(self) -> str:
        """The digest that metrics name their questions by."""
        return short(self.tables.digest(self.key) or "")

    @cached_property
    def ids(self) -> list[str]:
        """Ids of the questions, in their order."""
        ids: list[str] = read_columns(self.tables, self.key, Question, names=["question_id"])[
            "question_id"
        ]
        return ids

    @cached_property
    def clusters(self) -> dict[str, str]:
        """Question id -> what its points are counted with."""
        return clusters_of(self.questions)

    @cached_property
    def numbers(self) -> dict[tuple[str, str], int]:
        """A number for each category, question and cluster: that of the first question of it."""
        found: dict[tuple[str, str], int] = {}
        for number, question in enumerate(self.questions):
            name = question.question_id
            found["question", name] = number
            found.setdefault(("cluster", self.clusters[name]), number)
            found.setdefault(("category", question.category), number)
        return found
