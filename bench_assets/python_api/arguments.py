"""Validation of arguments, before anything is built or requested."""

from collections.abc import Iterable
from operator import index
from pathlib import Path

from bench_assets.core.schema.errors import SettingsError


def require_count(name: str, value: object, hint: str = "", least: int = 0) -> int:
    """Return an argument that is a count; ``hint`` explains the count in the error.

    >>> require_count("limit", 4)
    4
    >>> require_count("limit", True, ", 0 for all")
    Traceback (most recent call last):
    bench_assets.core.schema.errors.SettingsError: limit: expected a count, 0 for all, got True

    Raises:
        SettingsError: If it is not an integer of at least ``least``.
    """
    try:
        number = -1 if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if number < least:
        raise SettingsError(f"{name}: expected a count{hint}, got {value!r}")
    return number


def require_names(argument: str, value: object) -> list[str]:
    """Return an argument that is one name, or several, as a list of texts.

    >>> require_names("suites", "blink"), require_names("suites", ("blink", "codis"))
    (['blink'], ['blink', 'codis'])

    Raises:
        SettingsError: If it is neither a text, a path nor an iterable of them.
    """
    if isinstance(value, str | Path):
        return [str(value)]
    values = list(value) if isinstance(value, Iterable) else [value]
    if not all(isinstance(name, str | Path) for name in values):
        raise SettingsError(f"{argument}: expected a name or a list of names, got {value!r}")
    return list(map(str, values))
