"""Streaming of requests and responses that do not fit into memory."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Generic, Protocol, TypeVar, overload, runtime_checkable

from bench_assets.core.schema.chat import ChatModel, Prompt, Request, Response
from bench_assets.core.schema.rows import Question
from bench_assets.core.tables.large_tables import LargeTable

Row = TypeVar("Row")
Thing = TypeVar("Thing")

AT_ONCE = 32_768
"""Requests that are handed to an engine at once, about 4 kB each.

The next ones wait for the last of these: with 1,024 under way at the same time that is one time in
32. Longest first is an order of so many, which is as good as one of all.
"""


@runtime_checkable
class AnswersMany(Protocol):
    """Chat models that stream requests and responses."""

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Response]]:
        """Answer each request, in order, as ``ChatModel.response`` does.

        Raises:
            ModelError: If the model cannot be asked at all, also at the end.
        """
        ...


class Requests(Sequence[Request]):
    """Requests of a condition, built lazily."""

    def __init__(
        self,
        questions: Sequence[Question],
        prompt: Callable[[Question], Prompt],
        samples: int,
        temperature: float | None,
    ) -> None:
        """Prompt, number of samples and temperature of each question."""
        self.questions = questions
        self._prompt, self._samples, self._temperature = prompt, samples, temperature

    def __len__(self) -> int:
        """Number of items."""
        return len(self.questions) * self._samples

    def __iter__(self) -> Iterator[Request]:
        """Make them, the draws of a question one after the other."""
        return (one for question in self.questions for one in self._of(question))

    @overload
    def __getitem__(self, place: int) -> Request: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Request]: ...
    def __getitem__(self, place: int | slice) -> Request | Sequence[Request]:
        """Make one of them, or some."""
        if isinstance(place, slice):
            return [self[one] for one in range(len(self))[place]]
        place = range(len(self))[place]
        return self._of(self.questions[place // self._samples])[place % self._samples]

    def _of(self, question: Question) -> list[Request]:
        prompt = self._prompt(question)
        return [
            Request(prompt=prompt, sample=sample, temperature=self._temperature, question=question)
            for sample in range(self._samples)
        ]


class LazyRows(Sequence[Thing], Generic[Row, Thing]):
    """Rows mapped lazily."""

    def __init__(self, rows: Sequence[Row], make: Callable[[Row], Thing]) -> None:
        """Store the rows and the function."""
        self._rows: Sequence[Row] = rows
        self._make: Callable[[Row], Thing] = make

    def __len__(self) -> int:
        """Number of items."""
        return len(self._rows)

    def __iter__(self) -> Iterator[Thing]:
        """Make one after the other."""
        return map(self._make, self._rows)

    @overload
    def __getitem__(self, place: int) -> Thing: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Thing]: ...
    def __getitem__(self, place: int | slice) -> Thing | Sequence[Thing]:
        """Make one of them, or some."""
        if isinstance(place, slice):
            return list(map(self._make, self._rows[place]))
        return self._make(self._rows[place])


def answers(model: ChatModel, requests: Requests) -> Iterator[tuple[Request, Response]]:
    """Answer each request, in order; all in one call unless they are too many to be held.

    Raises:
        ModelError: If the model cannot be asked at all.
    """
    large = isinstance(requests.questions, LargeTable)
    return answered(model, requests if large else list(requests))


def answered(model: ChatModel, requests: Sequence[Request]) -> Iterator[tuple[Request, Response]]:
    """Answer requests in order; lazy ones are streamed if the model can.

    Raises:
        ModelError: If the model cannot be asked at all.
    """
    if isinstance(requests, list) or not isinstance(model, AnswersMany):
        held = list(requests)
        yield from zip(held, model.response(held), strict=True)
    else:
        yield from model.answers(requests)


def some_at_once(requests: Sequence[Request], most: int = AT_ONCE) -> Iterator[list[Request]]:
    """Split requests into batches."""
    waiting = iter(requests)
    while some := list(islice(waiting, most)):
        yield some
