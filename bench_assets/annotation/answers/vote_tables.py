"""Tables that a suite names because people made them: their votes, and what was decided by them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

from bench_assets.annotation.answers.values import votes_of
from bench_assets.annotation.tasks.forms import Answer
from bench_assets.annotation.tasks.suite_forms import SuiteForm
from bench_assets.core.schema.votes import Vote


class VoteTable(NamedTuple):
    """A table that keeps what single persons said when a task's questions were made."""

    name: str  # of its asset: "codis/votes"
    row: type[Any]
    votes: Callable[[Sequence[Any]], list[Vote]]  # out of its rows

    @classmethod
    def of_answers(cls, form: SuiteForm) -> Self:
        """Take the answers to a form: what each person chose in each of its fields."""
        return cls(form.table("answers"), Answer, partial(votes_of, form.form))


class DecisionTable(NamedTuple):
    """A table of what people decided on things that questions are made of."""

    name: str  # of its asset: "codis/decisions"
    row: type[Any]
    form: str  # whose answers decide: "codis/votes"
    open_rows: Callable[[Sequence[Any]], list[str]]
    """What is neither kept nor dropped yet, out of its rows: a line for each, with its reason."""
