from typing import TypeVar

T = TypeVar("T")


def keep(values: list[T], value: T) -> T:
    values.append(value)
    return value
