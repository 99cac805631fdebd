"""Who is handed what, and what becomes of what somebody died over; workers are scripted."""

from collections.abc import Iterator
from typing import cast

import pytest

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.models.workers.pool import ChunkScheduler
from bench_resources.models.workers.port import Chunk, ChunkDone, WorkerDied, WorkerMessage
from bench_resources.models.workers.processes import WorkerProcesses
from tests.resources.models.transformers.tiny_engine import spec_of


class Hand:
    """A worker that answers in capitals; over the word "poison" it dies, over "none" all ends."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.chunks: list[list[str]] = []
        self.todo: Chunk = {}
        self.busy = False

    def ask(self, chunk: Chunk) -> None:
        assert not self.busy
        self.busy = True
        self.todo = dict(chunk)
        self.chunks.append([_text(request) for request in chunk.values()])

    def receive(self) -> WorkerMessage | WorkerDied:
        if not self.todo:
            self.busy = False
            return ChunkDone(len(self.chunks))
        position, request = next(iter(self.todo.items()))
        del self.todo[position]
        match _text(request):
            case "poison":
                return WorkerDied(f"{self.name} is gone")
            case "none":
                return ModelError("no weights")
        return position, Response(text=_text(request).upper())


class Hands:
    """As many as there are; the dead are not replaced."""

    def __init__(self, n: int) -> None:
        self.hands = [Hand(f"hand {number}") for number in range(n)]

    @property
    def n_alive(self) -> int:
        return len(self.hands)

    def start(self) -> None:
        raise AssertionError("the engine does that")

    def free(self) -> list[Hand]:
        return [hand for hand in self.hands if not hand.busy]

    def receive(self) -> Iterator[tuple[Hand, WorkerMessage | WorkerDied]]:
        for hand in [hand for hand in self.hands if hand.busy]:
            message = hand.receive()
            if isinstance(message, WorkerDied):
                self.hands.remove(hand)
            yield hand, message

    def end(self) -> None:
        self.hands.clear()


def _text(request: Request) -> str:
    (part,) = request.prompt.turns[0].parts
    return str(part)


def schedule(hands: Hands, requests: list[Request], batch_size: int = 1) -> ChunkScheduler:
    spec = spec_of("m", batch_size=batch_size)
    return ChunkScheduler(spec, requests, cast("WorkerProcesses", hands))


def texts_from(hands: Hands, *texts: str, batch_size: int = 1) -> list[str]:
    """What was said to each text, the response or the error."""
    requests = [Request(prompt=Prompt.of(text)) for text in texts]
    arrived = list(schedule(hands, requests, batch_size).responses())
    assert sorted(position for position, _ in arrived) == list(range(len(texts)))
    return [
        response.text or response.error for _, response in sorted(arrived, key=lambda one: one[0])
    ]


@pytest.mark.parametrize(
    ("hands", "expected"),
    [
        pytest.param(
            Hands(3),
            "hand 1 is gone, and one before it on the same requests",
            id="over a request two may die",
        ),
        pytest.param(Hands(1), "hand 0 is gone, and no worker is left", id="nobody is left to die"),
    ],
)
def test_what_kills_comes_back_as_an_error(hands: Hands, expected: str) -> None:
    assert texts_from(hands, "poison") == [expected]


def test_the_others_of_a_chunk_are_answered_and_only_what_kills_is_an_error() -> None:
    hands = Hands(3)
    texts = ["a", "poison", "bb", "ccc"]
    outcomes = texts_from(hands, *texts, batch_size=4)
    assert (outcomes[0], *outcomes[2:]) == ("A", "BB", "CCC")
    assert outcomes[1].endswith("on the same requests")
    assert [len(chunk) for hand in hands.hands for chunk in hand.chunks] == [1, 1, 1]


def test_a_worker_without_weights_ends_the_run() -> None:
    with pytest.raises(ModelError, match="no weights"):
        texts_from(Hands(2), "a", "none")


def test_the_fullest_device_counts() -> None:
    chunks = schedule(Hands(1), [Request(prompt=Prompt.of(str(n))) for n in range(5)])
    list(chunks.responses())
    assert chunks.peak_memory == 5  # the double says how many chunks it was handed
    assert not chunks.is_under_way
