"""What is made of tasks or forms alone is made once a process, however many homes are opened."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

Made = TypeVar("Made")

_MOST = 1000  # of shipped and installed tasks together there are fewer

_made: dict[tuple[Hashable, ...], tuple[Sequence[object], object]] = {}


def once(make: Callable[..., Made], one: object, *others: object) -> Made:
    """Call ``make`` with tasks or forms, or remember what it gave for the very same ones.

    They hold functions, so that they are the same or they are not; they are kept with what was
    made of them, since a name in memory may be given again.
    """
    key = (make, id(one), *map(id, others))
    if key not in _made:
        if len(_made) >= _MOST:
            _made.clear()
        _made[key] = (one, *others), make(one, *others)
    made: Made = _made[key][1]  # type: ignore[assignment]  # the key has what made it
    return made
