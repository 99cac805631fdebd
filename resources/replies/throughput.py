"""How fast a model was asked: of what was asked just now, not of what was remembered."""

from collections.abc import Collection

from bench_assets.core.chat import Reply


class Throughput:
    """Adds up one or several askings."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._replies = self._prompt_tokens = self._completion_tokens = 0
        self._peak_memory: int | None = None
        self._failed = self._prompt_arrived = self._completion_arrived = 0
        self._price_in = self._price_out = 0.0

    def at_prices(self, price_in: float, price_out: float) -> None:
        """Learn what a million tokens cost, of the prompt and of the reply."""
        self._price_in, self._price_out = price_in, price_out

    def see(self, reply: Reply) -> None:
        """Take note of a reply while others are still under way."""
        self._failed += bool(reply.error)
        self._prompt_arrived += reply.prompt_tokens or 0
        self._completion_arrived += reply.completion_tokens or 0

    def arrived(self) -> list[str]:
        """Say what has come so far, in words: failures, tokens, what they cost."""
        tokens = self._prompt_arrived + self._completion_arrived
        money = self._prompt_arrived * self._price_in + self._completion_arrived * self._price_out
        return [
            *([f"{self._failed} failed"] if self._failed else []),
            *([f"{tokens:,} tokens"] if tokens else []),
            *([f"{money / 1e6:.4g} spent"] if money else []),
        ]

    def count(
        self, replies: Collection[Reply], seconds: float, peak_memory: int | None = None
    ) -> None:
        """Take note of an asking.

        Args:
            replies: What came back; those with ``error`` do not count.
            seconds: s from the first request to the last reply. The first asking of a run has
                the loading of the weights in it.
            peak_memory: Bytes that one device held at most.
        """
        came = [reply for reply in replies if not reply.error]
        self._seconds += seconds
        self._replies += len(came)
        self._prompt_tokens += sum(reply.prompt_tokens or 0 for reply in came)
        self._completion_tokens += sum(reply.completion_tokens or 0 for reply in came)
        self._peak_memory = max(self._peak_memory or 0, peak_memory or 0) or None

    def metadata(self) -> dict[str, float]:
        """What an asset shows; nothing if nothing was asked, no memory where it is not known."""
        if not self._seconds:
            return {}
        memory = (
            {} if self._peak_memory is None else {"device_memory_mib": self._peak_memory / 2**20}
        )
        return {
            "asking_seconds": self._seconds,
            "replies_a_second": self._replies / self._seconds,
            "prompt_tokens_a_second": self._prompt_tokens / self._seconds,
            "completion_tokens_a_second": self._completion_tokens / self._seconds,
            **memory,
        }
