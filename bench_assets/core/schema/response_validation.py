"""Validates a model response before it is cached or scored."""

from dataclasses import replace
from math import inf
from numbers import Integral, Real

from bench_assets.core.schema.chat import Response

MOST_TOKENS = 10**9  # what says more has not counted


def certain(said: object) -> Response:
    """Take what a model gave for a response; what is none becomes one with ``error``.

    Text, finish_reason and note must be texts in valid Unicode, else there is no response. Counts
    and seconds that cannot be any are left out: the text is one without them.

    >>> certain(Response(text="A", prompt_tokens=-1)) == Response(text="A")
    True
    >>> certain("A").error
    'not a response: str where a Response was expected'
    """
    if not isinstance(said, Response):
        return Response(
            error=f"not a response: {type(said).__name__} where a Response was expected"
        )
    if said.error:
        return Response(error=readable(str(said.error)))
    for name in ("text", "finish_reason", "note"):
        if complaint := _complaint(getattr(said, name)):
            return Response(error=f"not a response: its {name} is {complaint}")
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


def _is_plain(said: Response) -> bool:
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


def _plain(said: Response) -> Response:
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
    """The tokens of each image; () where those of one cannot be told."""
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
