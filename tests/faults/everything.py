from collections.abc import Iterable, Sequence

from tests.faults import disks, inputs, kills, machine, people
from tests.faults.readers import fuzzing
from tests.faults.servers import healing
from tests.faults.table import Fault

_STRIDE = 4
"""Make check tries every fourth of the faults that take milliseconds, as there are hundreds."""


def every_fault() -> list[Fault]:
    """The faults of all groups, the quick ones first."""
    faults = [
        *(*healing.faults(), *inputs.faults(), *machine.faults(), *fuzzing.faults()),
        *(*disks.faults(), *kills.faults(), *people.faults()),
    ]
    return sorted(faults, key=lambda fault: not fault.short)


def short_form(faults: Iterable[Fault]) -> Sequence[Fault]:
    """The faults that ``make check`` tries: some of every group, the same ones each time."""
    quick = sorted((fault for fault in faults if fault.short), key=lambda fault: fault.group)
    return quick[::_STRIDE]
