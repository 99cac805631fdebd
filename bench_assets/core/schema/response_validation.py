"""What is certainly a reply: the last gate before one is stored or scored, whoever gave it."""

from dataclasses import replace
from math import inf
from numbers import Integral, Real

from bench_assets.core.schema.chat import Reply

MOST_TOKENS = 10**9  # what says more has not counted


def certain(said: object) -> Reply:
    """Take what a model gave for a reply; what is none becomes one with ``error``.

    Text, finish_reason and note must be texts in valid Unicode, else there is no reply. Counts and
    seconds that cannot be any are left out: the text is one without them.

    >>> certain(Reply(text="A", prompt_tokens=-1)) == Reply(text="A")
    True
    >>> certain("A").error
    'not a reply: str where a Reply was expected'
    """
    if not isinstance(said, Reply):
        return Reply(error=f"not a reply: {type(said).__name__} where a Reply was expected")
    if said.error:
        return Reply(error=readable(str(said.error)))
    for name in ("text", "finish_reason", "note"):
        if complaint := _complaint(getattr(said, name)):
            return Reply(error=f"not a reply: its {name} is {complaint}")
    return said if _is_plain(said) else _plain(said)


def readable(text: str) -> str:
    r"""Write half characters as JSON does, so that a text can be stored and printed.

    >>> readable("no \ud83d")
    'no \\ud83d'
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def token_count(said: object) -> int | None:
    """A number of tokens; None for what cannot be one.

    >>> token_count(12), token_count("12"), token_count(True), token_count(2**63)
    (12, None, None, None)
    """
    if said is None or isinstance(said, bool):
        return None
    if type(said) is not int:
        if not isinstance(said, Integral):
            return None
        said = int(said)  # numpy's, which SQLite does not take
    return said if 0 <= said <= MOST_TOKENS else None


def _complaint(said: object) -> str:
    if not isinstance(said, str):
        return f"no text but {type(said).__name__}"
    return "" if said.isascii() or readable(said) == said else "no valid Unicode"


def _is_plain(said: Reply) -> bool:
    """Whether nothing has to be left out or written otherwise; nearly always."""
    read, wrote, seconds = said.prompt_tokens, said.completion_tokens, said.seconds
    return (
        said.error == ""
        and type(said.text) is type(said.finish_reason) is type(said.note) is str
        and token_count(read) is read
        and token_count(wrote) is wrote
        and _seconds(seconds) is seconds
        and type(said.image_tokens) is tuple
        and all(token_count(one) is one is not None for one in said.image_tokens)
    )


def _plain(said: Reply) -> Reply:
    return replace(
        said,
        text=str(said.text),
        finish_reason=str(said.finish_reason),
        note=str(said.note),
        prompt_tokens=token_count(said.prompt_tokens),
        completion_tokens=token_count(said.completion_tokens),
        image_tokens=_of_each(said.image_tokens),
        seconds=_seconds(said.seconds),
        error="",
    )


def _of_each(said: object) -> tuple[int, ...]:
    """The tokens of each picture; () where those of one cannot be told."""
    counts = tuple(map(token_count, said)) if isinstance(said, tuple | list) else ()
    known = tuple(count for count in counts if count is not None)
    return known if len(known) == len(counts) else ()


def _seconds(said: object) -> float | None:
    if said is None or (type(said) is float and 0.0 <= said < inf):
        return said
    if isinstance(said, bool) or not isinstance(said, Real):
        return None
    try:
        seconds = float(said)
    except OverflowError:
        return None
    return seconds if 0.0 <= seconds < inf else None
