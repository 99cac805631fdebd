"""What a model answers when it sees nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import overload

from bench_assets.core.asking_many import answered
from bench_assets.core.chat import ChatModel, Reply, Request


class BlindModel:
    """Another model, asked without the pictures."""

    def __init__(self, inner: ChatModel, name: str) -> None:
        self.inner = inner
        self.name = name

    @property
    def signature(self) -> str:
        """Who is asked how, and that it is asked without the pictures."""
        return f"blind|{self.inner.signature}"

    def reply(self, requests: Sequence[Request]) -> list[Reply]:
        """Ask the other model; a request that had pictures and one that never had are equal.

        Raises:
            ModelError: If the other model cannot be asked at all.
        """
        return self.inner.reply([_without_pictures(request) for request in requests])

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Reply]]:
        """Answer each request, in order, as the other model does: some or all at once.

        Raises:
            ModelError: As ``reply``.
        """
        replies = answered(self.inner, _Blind(requests))
        return ((request, reply) for request, (_, reply) in zip(requests, replies, strict=True))


class _Blind(Sequence[Request]):
    """Requests without the pictures, made when they are asked."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self._requests = requests

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[Request]:
        return map(_without_pictures, self._requests)

    @overload
    def __getitem__(self, place: int) -> Request: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Request]: ...
    def __getitem__(self, place: int | slice) -> Request | Sequence[Request]:
        if isinstance(place, slice):
            return [_without_pictures(request) for request in self._requests[place]]
        return _without_pictures(self._requests[place])


def _without_pictures(request: Request) -> Request:
    return replace(request, prompt=request.prompt.without_images())
