"""What a model answers when it sees nothing."""

from collections.abc import Sequence
from dataclasses import replace

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
        return self.inner.reply([replace(r, prompt=r.prompt.without_images()) for r in requests])
