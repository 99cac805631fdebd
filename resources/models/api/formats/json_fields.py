"""Fields of a response: each of the type that its API documents, or not there at all."""

from collections.abc import Mapping
from typing import Any

from resources.models.api.formats.response_body import NoResponseError


def text(of: Mapping[str, Any], name: str) -> str | None:
    """A text; None if it is null or not there.

    Raises:
        NoResponseError: If it is anything else.
    """
    value = of.get(name)
    if value is None or isinstance(value, str):
        return value
    raise NoResponseError(f"{name} is no text")


def refuse_others(of: Mapping[str, Any], name: str, expected: str) -> None:
    """Make sure that a field says what it should, if it says anything.

    Raises:
        NoResponseError: If it says something else, such as "user" for the role.
    """
    said = of.get(name)
    if said not in (None, "", expected):
        raise NoResponseError(f"{name} is not {expected!r}")


def first_of(listed: object, name: str) -> dict[str, Any]:
    """The first of several alternatives, of which one was asked for.

    Args:
        listed: What should be a list of objects; an ``index`` that is not there is 0.
        name: Of the list, for complaints.

    Raises:
        NoResponseError: If there is none, or it is not certain which is the first.
    """
    if not isinstance(listed, list) or not listed or not isinstance(listed[0], dict):
        raise NoResponseError(f"the response has no {name}[0]")
    if _index(listed[0]) != 0:
        raise NoResponseError(f"{name}[0].index is not 0")
    if len(listed) > 1 and any(_index(other) in (0, None) for other in listed[1:]):
        raise NoResponseError(f"{len(listed)} {name}, where one was asked for")
    return listed[0]


def _index(one: object) -> int | None:
    """The number of an alternative; None for what cannot be one."""
    number = one.get("index") if isinstance(one, dict) else False
    if number is None:
        return 0
    return number if type(number) is int else None
