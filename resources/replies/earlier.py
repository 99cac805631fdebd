"""What the store knows of a model's earlier replies."""

from contextlib import closing
from dataclasses import dataclass

from resources.replies.store import ReplyStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens that a model read and wrote, or is expected to."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """How a model's replies were on average; None without any."""

    seconds: float | None = None
    tokens: float | None = None


def tokens_of(store: ReplyStore, identity: str) -> Tokens:
    """Add up the tokens of every reply that is remembered of a model."""
    with closing(store.connect()) as db:
        prompt, completion = db.execute(
            "SELECT total(prompt_tokens), total(completion_tokens) FROM replies WHERE model = ?",
            (identity,),
        ).fetchone()
    return Tokens(prompt=int(prompt), completion=int(completion))


def earlier(store: ReplyStore, identity: str, decoding: str) -> Earlier:
    """Say how the replies were that a model gave when it was asked in this way."""
    with closing(store.connect()) as db:
        seconds, tokens = db.execute(
            "SELECT avg(seconds), avg(completion_tokens) FROM replies"
            " WHERE model = ? AND decoding = ?",
            (identity, decoding),
        ).fetchone()
    return Earlier(seconds=seconds, tokens=tokens)
