"""The name that was probably meant, of those there are."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

_SEVERAL = 5


def nearest(name: str, known: Iterable[str], n: int = _SEVERAL) -> list[str]:
    """The nearest names, best first: in any case of letters, and by the last part of a path.

    >>> nearest("CODIS", ["blink", "codis"])
    ['codis']
    >>> nearest("mcott", ["journeybench/mcot", "journeybench/retrieval"])
    ['journeybench/mcot']
    """
    wanted, there_are = name.casefold(), sorted(set(known))
    by_whole = _close(wanted, ((one.casefold(), one) for one in there_are))
    by_part = _close(wanted.rpartition("/")[2], _last_parts(there_are)) if len(wanted) > 1 else []
    return list(dict.fromkeys(by_whole or by_part))[:n]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Ask for the nearest name; "" where none is near.

    >>> did_you_mean("reding", ["judge", "reading"])
    "did you mean 'reading'?"
    """
    near = nearest(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else ""


def _close(wanted: str, spelled: Iterable[tuple[str, str]]) -> list[str]:
    named: dict[str, list[str]] = {}
    for letters, name in spelled:
        named.setdefault(letters, []).append(name)
    return [one for near in get_close_matches(wanted, named, _SEVERAL) for one in named[near]]


def _last_parts(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((one.casefold().rpartition("/")[2], one) for one in names if "/" in one)
