"""Records the values that a function receives."""

from typing import TypeVar

T = TypeVar("T")


def keep(values: list[T], value: T) -> T:
    """Append a value to a list, and return the value."""
    values.append(value)
    return value
