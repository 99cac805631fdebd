"""What a page says instead of what was asked for."""

from bench_assets.core.errors import BenchError


class RefusedError(BenchError):
    """A request that is not answered as it was meant; its text is what the page says."""

    def __init__(self, status: int, sentence: str, *, after: float = 0.0) -> None:
        super().__init__(sentence)
        self.status = status
        self.after = after  # s, until it may be tried again; 0: it says nothing of that
