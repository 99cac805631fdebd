"""Token and money budgets."""

from collections.abc import Callable, Iterator, Sequence

from bench_assets.core.schema.chat import Request, Response
from bench_resources.config.sections.base import PriceSection
from bench_resources.response_cache.engine import Engine, EngineWrapper, validate_arrivals
from bench_resources.response_cache.rows import TokenCounts

_BATCH_SIZE = 16  # requests in a part, for an engine that does not check the budget itself


def cost(spec: PriceSection, tokens: TokenCounts) -> float:
    """The price of tokens, in the currency of the section.

    >>> spec = PriceSection(kind="server", price_in=2, price_out=10)
    >>> cost(spec, TokenCounts(prompt=500_000, completion=100_000))
    2.0
    """
    return (tokens.prompt * spec.price_in + tokens.completion * spec.price_out) / 1e6


class Budget:
    """Sums the cost of responses, and reports an exhausted budget.

    Open requests are still answered when it is spent. Concurrent processes see each other's costs
    only from the next stream on.
    """

    def __init__(self, spec: PriceSection, spent: TokenCounts) -> None:
        self._spec = spec
        self._spent = spent
        self._uncounted = False

    def count(self, response: Response) -> None:
        """Add a response; one without token counts makes the budget unenforceable."""
        if not response.error:
            self._uncounted |= response.prompt_tokens is None or response.completion_tokens is None
            self._spent = TokenCounts(
                prompt=self._spent.prompt + (response.prompt_tokens or 0),
                completion=self._spent.completion + (response.completion_tokens or 0),
            )

    def exhausted_reason(self) -> str:
        """Why no further request may be sent; "" while the budget lasts."""
        spec, money = self._spec, cost(self._spec, self._spent)
        tokens = self._spent.prompt + self._spent.completion
        if spec.has_budget and self._uncounted:
            return "not sent: the server reports no token counts, which the budget needs"
        if spec.budget is not None and money >= spec.budget:
            return f"not sent: {money:.4g} of the budget of {spec.budget:g} are spent"
        if spec.budget_tokens is not None and tokens >= spec.budget_tokens:
            return f"not sent: {tokens} of the budget_tokens of {spec.budget_tokens} are used"
        return ""


class WithinBudget(EngineWrapper):
    """Wraps an engine: requests are sent in small parts while the budget lasts."""

    def __init__(
        self, engine: Engine, spec: PriceSection, spent: Callable[[str], TokenCounts]
    ) -> None:
        """Wrap an engine; ``spent`` returns the tokens of cached responses by identity."""
        super().__init__(engine)
        self._spec = spec
        self._spent = spent

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield responses; once the budget is spent, the rest come back with ``error``."""
        budget = Budget(self._spec, self._spent(self.identity))
        for start in range(0, len(requests), _BATCH_SIZE):
            batch = requests[start : start + _BATCH_SIZE]
            reason = budget.exhausted_reason()
            unsent = enumerate(Response(error=reason) for _ in batch)
            for position, response in (
                unsent if reason else validate_arrivals(self._engine.stream(batch), len(batch))
            ):
                budget.count(response)
                yield start + position, response
