"""The healed oracle: what a misbehaving server did leaves no trace once it is well again.

Half of the questions are asked of a server that misbehaves; then it is healed, and the same is
evaluated again, and once more. The number must be that of a server that was always well; nothing
that was answered is asked twice; whatever was not is asked; the key is nowhere.
"""

import io
import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.faults import leaks
from tests.faults.homes import CLEAN, KEY, KEY_VARIABLE, Pure, Whole
from tests.faults.servers.echoes import ECHOES
from tests.faults.servers.misbehaviour import SAYS, Misbehaviour
from tests.faults.servers.responses import (
    EITHER,
    LARGE,
    NOT_RESPONSES,
    OWN,
    RESPONSES,
    SILENT,
    STOPS,
)
from tests.faults.servers.server import Count, MisbehavingServer
from tests.faults.servers.transport import CONNECTIONS, STATUSES
from tests.faults.table import Fault, FoundError, Trial

MISBEHAVIOURS: list[Misbehaviour] = [
    *(*NOT_RESPONSES, *RESPONSES, *EITHER, *LARGE, *SILENT, *OWN, *STOPS),
    *(*STATUSES, *CONNECTIONS, *ECHOES),
]


_ONE_IN = 3
"""Of the misbehaviours, one in so many is tried through bench evaluate too, which takes seconds."""


def faults() -> list[Fault]:
    """Each misbehaviour through the four steps, and at length through ``bench evaluate``."""
    return [
        *(_fault("servers", misbehaviour, Pure) for misbehaviour in MISBEHAVIOURS),
        *(_fault("servers, bench evaluate", replace(misbehaviour, short=False), Whole)
          for misbehaviour in MISBEHAVIOURS[::_ONE_IN]),
    ]  # fmt: skip


def _fault(group: str, one: Misbehaviour, door: type[Pure] | type[Whole]) -> Fault:
    return Fault(
        group=group,
        name=one.name,
        made=one.made,
        must=SAYS[one.must],
        attempt=lambda trial: _healed(one, door, trial),
        short=one.short,
    )


def _healed(one: Misbehaviour, door: type[Pure] | type[Whole], trial: Trial) -> str:
    home = trial.folder / "home"
    home.mkdir()
    with MisbehavingServer(one.misbehave) as server, key_set(), logged() as log:
        opened = door(home, server.base_url, timeout=one.timeout)
        _forget_peak_memory()
        before = _memory("VmRSS")
        first = opened.evaluate()
        if (took := _memory("VmHWM") - before) > one.most_memory:
            raise FoundError(f"it took {took} MB of memory")
        sick = server.counts()
        server.heal()
        values = [first, opened.evaluate(), opened.evaluate()]
        _check(one, values, sick, server.counts(), server.numbers)
        if server.wrong_key:
            raise FoundError("a request came without the key")
    leaks.search(home, log.getvalue())
    return _seen(values, sick, server.counts(), server.numbers)


def _check(
    one: Misbehaviour, values: list[float | None], sick: Count, whole: Count, hurt: set[int]
) -> None:
    again = whole.received - sick.received
    kept = sorted(number for number in hurt if not again[number])
    if twice := [number for number, times in whole.answered.items() if times > 1]:
        raise FoundError(f"asked again though answered: {twice}")
    if one.must == "lost" and kept:
        raise FoundError(f"stored as a response: questions {kept}")
    if one.must in ("kept", "own", "stops") and again.keys() & hurt:
        raise FoundError(f"not taken for a response: {sorted(again.keys() & hurt)}")
    if one.must == "stops":
        right = values == [None] * len(values)
    elif one.must == "own" or (one.must == "silent" and kept):
        right = all(value is not None and value < CLEAN for value in values)
    else:
        right = values[1:] == [CLEAN, CLEAN] and values[0] in (None, CLEAN)
    if not right:
        raise FoundError(f"the numbers are {values}, and {CLEAN:.3f} of a server that is well")


def _seen(values: list[float | None], sick: Count, whole: Count, hurt: set[int]) -> str:
    lost = (whole.received - sick.received).keys() & hurt
    what = f"{len(lost)} of {len(hurt)} lost and asked again" if lost else "taken for responses"
    return f"{what}; then {'no number' if values[-1] is None else f'{values[-1]:.3f}'}"


@contextmanager
def key_set() -> Generator[None]:
    """Have the key in the environment for as long as a block lasts."""
    os.environ[KEY_VARIABLE] = KEY
    try:
        yield
    finally:
        del os.environ[KEY_VARIABLE]


@contextmanager
def logged() -> Generator[io.StringIO]:
    """Gather what is logged meanwhile."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    log = logging.getLogger("bench_assets")
    log.addHandler(handler)
    spread, log.propagate = log.propagate, False
    try:
        yield text
    finally:
        log.removeHandler(handler)
        log.propagate = spread


def _forget_peak_memory() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _memory(field: str) -> int:
    """MB of this process, as Linux counts them."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = [line for line in lines if line.startswith(f"{field}:")]
    return int(line.split()[1]) // 1024
