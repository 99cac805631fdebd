"""The eight kinds of reasoning (section 2.2), under each name that the authors give them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of reasoning."""

    name: str  # as Tables 1, 3 and 5 print it; categories of questions have this name
    field: str  # as the annotation files and Figure 6 have it
    code: str  # as the question file has it; used in ids


TIME = Kind("Time", "Special Time Reasoning", "time")
LOCATION = Kind("Location", "Location Reasoning", "location")
CHARACTER = Kind("Character", "Character Reasoning", "character")
RELATIONSHIP = Kind(
    "Character Relationship", "Character Relationship Reasoning", "character_relationship"
)
EVENT = Kind("Event", "Event Reasoning", "event")
EVENT_RELATIONSHIP = Kind(
    "Event Relationship", "Event Relationship Reasoning", "event_relationship"
)
NEXT_EVENT = Kind("Next Moment Event", "Next Moment Event Reasoning", "next_event")
MENTAL_STATE = Kind("Mental State", "Mental State Reasoning", "mental")

KINDS = (
    TIME,
    LOCATION,
    CHARACTER,
    RELATIONSHIP,
    EVENT,
    EVENT_RELATIONSHIP,
    NEXT_EVENT,
    MENTAL_STATE,
)
"""In the order of Table 1."""


def find_kind(spelling: str) -> Kind | None:
    """Find a kind by any of its names, in any case, with blanks or underscores; None if unknown.

    >>> find_kind("[Mental State Reasoning]").code, find_kind("next_event").code
    ('mental', 'next_event')
    """
    return _BY_SPELLING.get(_plain(spelling))


def _plain(spelling: str) -> str:
    words = spelling.strip(" []:").casefold().replace("_", " ").split()
    return " ".join(word for word in words if word not in ("special", "reasoning", "moment"))


_BY_SPELLING = {
    **{_plain(name): kind for kind in KINDS for name in (kind.name, kind.field, kind.code)},
    "mental": MENTAL_STATE,
}
