"""A model that is a function."""

from collections.abc import Callable, Iterator, Sequence

from bench_assets.core.chat import Reply, Request


class ScriptedModel:
    """Says what a function says; for tests, and for trying the graph."""

    signature = "scripted"

    def __init__(self, name: str, answer: Callable[[Request], str]) -> None:
        self.name = name
        self._answer = answer

    def reply(self, requests: Sequence[Request]) -> list[Reply]:
        """Answer each request, in order."""
        return [reply for _, reply in self.answers(requests)]

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Reply]]:
        """Answer each request, in order, one after the other."""
        return ((r, Reply(text=self._answer(r), finish_reason="stop")) for r in requests)
