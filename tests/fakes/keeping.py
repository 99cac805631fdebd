"""What a scripted model, judge or reader was given, kept for the test."""

from typing import TypeVar

T = TypeVar("T")


def keep(seen: list[T], value: T) -> T:
    """Append a value to what was seen; gives it back."""
    seen.append(value)
    return value
