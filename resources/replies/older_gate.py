"""Replies that an older gate let in, and that of today would not: to be found, and dropped."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass

from bench_assets.core.chat import Reply
from resources.replies.gate import GATE
from resources.replies.reply_file import rows_in
from resources.replies.store import ReplyStore
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
    prompt: str  # SHA-256; ``ReplyStore.prompt`` has its text
    why: str


def doubtful(store: ReplyStore) -> Iterator[Doubtful]:
    """Find what the gate of today would not have let in; nothing is changed.

    Looks only at what an older gate let in. What it stored of a message without a text cannot be
    told from one of a model that said nothing: either is found, and asked once more if it is
    dropped; what is then stored is not found again. Takes some 10 microseconds a reply.
    """
    with closing(store.connect()) as db:
        for row in rows_in(db.execute("SELECT * FROM replies WHERE gate IS NOT ?", (GATE,))):
            model = str(row["model"])
            if why := _complaint(model, stored_reply(row)):
                yield Doubtful(key=row["key"], model=model, prompt=str(row["prompt"]), why=why)


def drop(store: ReplyStore, keys: Iterable[str]) -> int:
    """Forget replies, so that they are asked when their model is next evaluated; how many.

    The tables that were made of them stay as they are until then.
    """
    with closing(store.connect()) as db, db:
        named = [(key,) for key in keys]
        return max(db.executemany("DELETE FROM replies WHERE key = ?", named).rowcount, 0)


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
