"""What asking a server costs, and when to stop."""

from contextlib import closing
from dataclasses import dataclass

from bench_assets.core.chat import Reply
from resources.reply_store import ReplyStore
from resources.server_spec import ServerSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens that a model read and wrote, or is expected to."""

    prompt: int = 0
    completion: int = 0


def cost(spec: ServerSpec, tokens: Tokens) -> float:
    """What tokens cost, in the currency of the prices.

    >>> spec = ServerSpec(kind="server", base_url="http://s", model="m", price_in=2, price_out=10)
    >>> cost(spec, Tokens(prompt=500_000, completion=100_000))
    2.0
    """
    return (tokens.prompt * spec.price_in + tokens.completion * spec.price_out) / 1e6


def tokens_of(store: ReplyStore, identity: str) -> Tokens:
    """Add up the tokens of every reply that is remembered of a model."""
    with closing(store.connect()) as db:
        prompt, completion = db.execute(
            "SELECT total(prompt_tokens), total(completion_tokens) FROM replies WHERE model = ?",
            (identity,),
        ).fetchone()
    return Tokens(prompt=int(prompt), completion=int(completion))


def has_budget(spec: ServerSpec) -> bool:
    """Whether anything limits what may be spent."""
    return spec.budget is not None or spec.budget_tokens is not None


class Budget:
    """Counts what a model's replies cost, and says when no further request may be sent.

    Requests that are under way when it ends still arrive, so it is passed by as much; processes
    that ask at the same time learn of each other's replies only when the next asking starts.
    """

    def __init__(self, spec: ServerSpec, spent: Tokens) -> None:
        self._spec = spec
        self._spent = spent
        self._uncounted = False

    def count(self, reply: Reply) -> None:
        """Add a reply. One that says nothing of its tokens makes the budget impossible to keep."""
        if not reply.error:
            self._uncounted |= reply.prompt_tokens is None or reply.completion_tokens is None
            self._spent = Tokens(
                prompt=self._spent.prompt + (reply.prompt_tokens or 0),
                completion=self._spent.completion + (reply.completion_tokens or 0),
            )

    def why_over(self) -> str:
        """Why nothing more may be asked; "" as long as it may."""
        spec, money = self._spec, cost(self._spec, self._spent)
        tokens = self._spent.prompt + self._spent.completion
        if has_budget(spec) and self._uncounted:
            return "not asked: the server does not say how many tokens it used, for the budget"
        if spec.budget is not None and money >= spec.budget:
            return f"not asked: {money:.4g} of the budget of {spec.budget:g} are spent"
        if spec.budget_tokens is not None and tokens >= spec.budget_tokens:
            return f"not asked: {tokens} of the budget_tokens of {spec.budget_tokens} are used"
        return ""
