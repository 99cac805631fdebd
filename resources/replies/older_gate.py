"""Replies that an older gate let in, and that of today would not: to be found, and dropped."""

from collections.abc import Iterator
from dataclasses import dataclass

from bench_assets.core.chat import Reply
from resources.replies.gate import GATE
from resources.replies.port import Replies
from resources.replies.stored import stored_reply

_ENDS = frozenset(
    {"", "stop", "length", "content_filter", "refusal", "repetition", "tool_calls"}
)  # what the formats of servers store
_BROKEN_OFF = frozenset({"abort", "error", "load"})  # whoever says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubtful:
    """A row of the store that is not certainly a reply."""

    key: str  # of the reply in the store
    model: str  # identity
    prompt: str  # SHA-256; ``Replies.prompt`` has its text
    why: str


def doubtful(store: Replies) -> Iterator[Doubtful]:
    """Find what the gate of today would not have let in; nothing is changed.

    Looks only at what an older gate let in. What it stored of a message without a text cannot be
    told from one of a model that said nothing: either is found, and asked once more if it is
    dropped; what is then stored is not found again. Takes some 10 microseconds a reply.

    The tables that were made of what is dropped stay as they are until their model is evaluated.
    """
    for row in store.rows(not_let_in_by=GATE):
        model = str(row["model"])
        if why := _complaint(model, stored_reply(row)):
            yield Doubtful(key=row["key"], model=model, prompt=str(row["prompt"]), why=why)


def _complaint(model: str, reply: Reply) -> str:
    """Why a stored reply is in doubt; "" if it is not."""
    end, empty = reply.finish_reason, not reply.text.strip()
    if reply.error:
        return reply.error
    if end in _BROKEN_OFF:
        return f"it was broken off: finish_reason {end!r}"
    if not model.startswith("server:"):
        return ""
    if end not in _ENDS:
        return f"finish_reason {end[:40]!r} is none of a reply"
    return (
        "it is empty, as replies without a text once were" if empty and end in ("", "stop") else ""
    )
