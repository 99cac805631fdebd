"""What a suite says of one of its forms: two pure functions, and the tables they need."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bench_assets.annotation.tasks.forms import Answer, Form, Unit


class Summary(NamedTuple):
    """A table of what comes of a form's answers about models' responses."""

    name: str  # its asset is named after the form and this: "preferences_rates"
    about: str  # what one row is, after "One row: "
    row: type[Any]
    rows: Callable[[Sequence[Any], Sequence[Any]], list[Any]]  # of the form's rows and predictions


class TableOf(NamedTuple):
    """A table of the suite that items are made of."""

    key: str  # of its asset: "codis/submissions"
    row: type[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteForm:
    """One form of a suite; no suite knows in what it is filled in."""

    form: Form
    reads: Mapping[str, TableOf]  # by the names of the arguments of ``items``
    items: Callable[..., list[Unit]]  # what is asked, of the tables as they are now
    row: type[Any]  # of what ``to_rows`` makes: the suite's own row of such votes
    to_rows: Callable[[Sequence[Answer]], list[Any]]  # of the answers that count
    summary: Summary | None = None  # of a form about models' responses

    @property
    def suite(self) -> str:
        """The suite it belongs to."""
        return self.form.name.split("/")[0]

    def table(self, which: str) -> str:
        """The key of one of its tables: "codis/people/votes_answers"."""
        suite, _, name = self.form.name.partition("/")
        return f"{suite}/people/{name.replace('/', '_')}_{which}"
