"""Token and money budgets."""

from bench_assets.core.schema.chat import Response
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.response_cache.rows import TokenCounts


def cost(spec: ServerSpec, tokens: TokenCounts) -> float:
    """The price of tokens, in the currency of the section; its prices are per million tokens.

    >>> section = {"kind": "server", "base_url": "http://a/v1", "model": "m"}
    >>> spec = ServerSpec.model_validate(section | {"price_in": 2, "price_out": 10})
    >>> cost(spec, TokenCounts(prompt=500_000, completion=100_000))
    2.0
    """
    return (tokens.prompt * spec.price_in + tokens.completion * spec.price_out) / 1e6


class Budget:
    """Sums the cost of responses, and reports an exhausted budget.

    Open requests are still answered when it is spent. Concurrent processes see each other's costs
    only from the next stream on.
    """

    def __init__(self, spec: ServerSpec, spent: TokenCounts) -> None:
        self._spec = spec
        self._spent = spent
        self._has_uncounted_response = False

    def count(self, response: Response) -> None:
        """Add a response without error; one without token counts ends a section's budget."""
        if response.error:
            return
        prompt, completion = response.prompt_tokens, response.completion_tokens
        if prompt is None or completion is None:
            self._has_uncounted_response = True
        self._spent = TokenCounts(
            prompt=self._spent.prompt + (prompt or 0),
            completion=self._spent.completion + (completion or 0),
        )

    def exhausted_reason(self) -> str:
        """Why no further request may be sent; "" while the budget lasts."""
        spec = self._spec
        money = cost(spec, self._spent)
        tokens = self._spent.prompt + self._spent.completion
        if spec.has_budget and self._has_uncounted_response:
            return "not sent: the server reports no token counts, which the budget needs"
        if spec.budget is not None and money >= spec.budget:
            return f"not sent: {money:.4g} of the budget of {spec.budget:g} are spent"
        if spec.budget_tokens is not None and tokens >= spec.budget_tokens:
            return f"not sent: {tokens} of the budget_tokens of {spec.budget_tokens} are used"
        return ""
