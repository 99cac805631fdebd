"""How who answered and who judged was set up, as one column beside what came of it.

>>> parts_of(joined([model_of("0c"), judged_by("default", "5f"), model_of("0c")]))
Setups(model={'model=0c'}, judge={'judge=default:5f'})
"""

from collections.abc import Iterable
from typing import NamedTuple

_MODEL, _JUDGE = "model=", "judge="


class Setups(NamedTuple):
    """The parts of such a column: one each, unless a table was made in parts."""

    model: set[str]
    judge: set[str]


def model_of(setup: str) -> str:
    """Name the setup of a model that answered; "" of one that is not known."""
    return f"{_MODEL}{setup}" if setup else ""


def judged_by(name: str, setup: str) -> str:
    """Name the setup of a judge: which of the task's, and the model that it asks, if any."""
    return f"{_JUDGE}{name}:{setup}"


def joined(setups: Iterable[str]) -> str:
    """Put the setups of several rows together, each once."""
    return "+".join(sorted({part for setup in setups for part in setup.split("+")} - {""}))


def parts_of(setup: str) -> Setups:
    """Take it apart again."""
    parts = set(setup.split("+"))
    return Setups(*({p for p in parts if p.startswith(mark)} for mark in (_MODEL, _JUDGE)))
