"""Streaming of requests and responses that do not fit into memory."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Generic, Protocol, TypeVar, overload, runtime_checkable

from bench_assets.core.schema.chat import ChatModel, Prompt, Request, Response
from bench_assets.core.schema.rows import Question
from bench_assets.core.tables.large_tables import LargeTable

Row = TypeVar("Row")
Thing = TypeVar("Thing")

BATCH_SIZE = 32_768
"""Requests handed to an engine in one batch, about 4 kB each.

The next batch waits for the last response of this one, which costs little: with 1,024 requests in
flight a batch is 32 rounds. Engines that send the longest requests first sort within a batch.
"""


@runtime_checkable
class StreamingModel(Protocol):
    """Chat models that stream requests and responses."""

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Response]]:
        """Answer each request, in order, as ``ChatModel.response`` does.

        Raises:
            ModelError: If the model cannot be asked at all; also raised after the last response.
        """
        ...


class LazyRequests(Sequence[Request]):
    """Requests of a condition, built lazily."""

    def __init__(
        self,
        questions: Sequence[Question],
        prompt: Callable[[Question], Prompt],
        samples: int,
        temperature: float | None,
    ) -> None:
        """Take the questions, a prompt builder, samples per question, and the temperature."""
        self.questions = questions
        self._prompt, self._samples, self._temperature = prompt, samples, temperature

    def __len__(self) -> int:
        """Number of items."""
        return len(self.questions) * self._samples

    def __iter__(self) -> Iterator[Request]:
        """Build the requests in order, all samples of a question in a row."""
        return (one for question in self.questions for one in self._of(question))

    @overload
    def __getitem__(self, place: int) -> Request: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Request]: ...
    def __getitem__(self, place: int | slice) -> Request | Sequence[Request]:
        """Build one request, or those of a slice."""
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
        """Map the rows in order."""
        return map(self._make, self._rows)

    @overload
    def __getitem__(self, place: int) -> Thing: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Thing]: ...
    def __getitem__(self, place: int | slice) -> Thing | Sequence[Thing]:
        """Map one row, or those of a slice."""
        if isinstance(place, slice):
            return list(map(self._make, self._rows[place]))
        return self._make(self._rows[place])


def answer_requests(model: ChatModel, requests: LazyRequests) -> Iterator[tuple[Request, Response]]:
    """Answer each request, in order; in one call unless the questions do not fit into memory.

    Raises:
        ModelError: If the model cannot be asked at all.
    """
    large = isinstance(requests.questions, LargeTable)
    return stream_responses(model, requests if large else list(requests))


def stream_responses(
    model: ChatModel, requests: Sequence[Request]
) -> Iterator[tuple[Request, Response]]:
    """Answer requests in order; lazy ones are streamed if the model can.

    Raises:
        ModelError: If the model cannot be asked at all.
    """
    if isinstance(requests, list) or not isinstance(model, StreamingModel):
        request_list = list(requests)
        yield from zip(request_list, model.response(request_list), strict=True)
    else:
        yield from model.answers(requests)


def request_batches(requests: Sequence[Request], most: int = BATCH_SIZE) -> Iterator[list[Request]]:
    """Split requests into batches."""
    waiting = iter(requests)
    while batch := list(islice(waiting, most)):
        yield batch
