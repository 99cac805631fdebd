"""The port to whatever people answer in: files, pages of our own, an annotation tool."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from bench_assets.annotation.tasks.forms import Answer, Form, Unit
from bench_assets.core.schema.errors import BenchError


class PeopleError(BenchError):
    """What people answer in cannot be used now: it is down, refuses the token, or is damaged."""


class UnitCounts(NamedTuple):
    """What came of asking: how many items of each kind."""

    new: int  # that were not there
    there: int  # that were there as they are
    changed: int  # that were there with another text or image: asked anew, old answers kept
    withdrawn: int  # that were there and are wanted no more: nobody is shown them


class People(Protocol):
    """Asks people and hears them.

    Every verb raises ``PeopleError`` where the tool cannot be used; then nothing is half done that
    the same call does not finish.
    """

    def ask(self, form: Form, items: Sequence[Unit]) -> UnitCounts:
        """Make these the items of a form, and no others; twice is as good as once.

        Answers to items that changed or were withdrawn are kept. What an item needs, whom it bars
        and what is proposed may change without its being asked anew.

        Raises:
            PeopleError: If two items have one id.
        """
        ...

    def answers(self, form: Form) -> list[Answer]:
        """Everything that was said on any version of the form's items, the whole of it each time.

        Each person's last word, and their earlier ones where the tool keeps them: ``last_words``
        takes the last in time. Sorted by item, digest, person and time. What cannot be an answer at
        all, such as an entry of another shape, is there with a complaint.
        """
        ...

    def reopen(self, form: Form, item_id: str) -> None:
        """Ask one more person about an item.

        Raises:
            PeopleError: If the item is not asked.
        """
        ...

    def close(self, form: Form) -> None:
        """Show nobody any more of a form; its answers stay. Asking again opens it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedItem:
    """One item as a tool has it: a row of the table that tells what people are asked."""

    form: str
    form_version: str
    item_id: str
    digest: str
    needed: int
    tool: str
