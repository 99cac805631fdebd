"""All rows of the table."""

from collections.abc import Iterable, Sequence

from tests.faults import disks, inputs, kills, machine, people
from tests.faults.readers import fuzzing
from tests.faults.servers import healing
from tests.faults.table import Fault

_ONE_IN = 4
"""Of the rows that take milliseconds, make check tries one in so many: they are hundreds."""


def every_fault() -> list[Fault]:
    """Group by group, the quick ones first."""
    rows = [
        *(*healing.faults(), *inputs.faults(), *machine.faults(), *fuzzing.faults()),
        *(*disks.faults(), *kills.faults(), *people.faults()),
    ]
    return sorted(rows, key=lambda fault: not fault.short)


def short_form(faults: Iterable[Fault]) -> Sequence[Fault]:
    """What ``make check`` tries: some of every group, the same ones each time."""
    quick = sorted((fault for fault in faults if fault.short), key=lambda fault: fault.group)
    return quick[::_ONE_IN]
