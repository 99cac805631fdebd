"""What is made of tasks alone is made once a process, however many homes are opened in it."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from bench_assets.task import Task

Made = TypeVar("Made")

_MOST = 1000  # of shipped and installed tasks together there are fewer

_made: dict[tuple[Hashable, ...], tuple[Sequence[Task], object]] = {}


def once(make: Callable[..., Made], task: Task, *others: Task) -> Made:
    """Call ``make`` with tasks, or remember what it gave for the very same ones.

    Tasks hold functions, so that they are the same or they are not; they are kept with what was
    made of them, since a name in memory may be given again.
    """
    key = (make, id(task), *map(id, others))
    if key not in _made:
        if len(_made) >= _MOST:
            _made.clear()
        _made[key] = (task, *others), make(task, *others)
    made: Made = _made[key][1]  # type: ignore[assignment]  # the key has what made it
    return made
