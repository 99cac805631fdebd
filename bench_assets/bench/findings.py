"""What ``bench verify`` finds: of a part of a home, or of one thing in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal[
    "whole", "not yet verifiable", "damaged", "missing", "unreadable", "dropped"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found of one part of a home, or of one thing in it that is not whole."""

    what: str  # "tables", "pictures", ..., or the file or entry
    state: State
    n: int  # files, or rows of a database
    why: str = ""
    command: str = ""  # what brings it back; "" where there is nothing to do, or nothing that can

    @property
    def is_wrong(self) -> bool:
        """Whether something that was written cannot be read as it was."""
        return self.state in ("damaged", "missing", "unreadable")


def counted_states(what: str, counted: dict[State, int], why: str) -> Iterator[Finding]:
    """One finding of each state; of those that are whole there is nothing to say."""
    for state, n in counted.items():
        if n:
            yield Finding(what=what, state=state, n=n, why="" if state == "whole" else why)
