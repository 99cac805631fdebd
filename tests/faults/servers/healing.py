"""A server that misbehaved must leave no trace after it is healed.

A server misbehaves on half of the questions; then it is healed, and the same evaluation runs twice
more. The accuracy must be that of a server that never misbehaved, answered questions are not asked
again, the others are, and the key is in no file.
"""

import io
import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.faults import leaks
from tests.faults.homes import CLEAN, KEY, KEY_VARIABLE, BenchHome, PipelineHome
from tests.faults.servers.echoes import ECHOES
from tests.faults.servers.misbehaviour import EXPECTATIONS, Misbehaviour
from tests.faults.servers.responses import (
    EITHER,
    LARGE,
    NOT_RESPONSES,
    OWN,
    RESPONSES,
    SILENT,
    STOPS,
)
from tests.faults.servers.server import MisbehavingServer
from tests.faults.servers.transport import CONNECTIONS, STATUSES
from tests.faults.table import Fault, FindingError

MISBEHAVIOURS: list[Misbehaviour] = [
    *(*NOT_RESPONSES, *RESPONSES, *EITHER, *LARGE, *SILENT, *OWN, *STOPS),
    *(*STATUSES, *CONNECTIONS, *ECHOES),
]


_STRIDE = 3
"""Every third misbehaviour is tried through bench evaluate too, which takes seconds."""


def faults() -> list[Fault]:
    """Each misbehaviour through the pipeline, and at length through ``bench evaluate``."""
    return [
        *(_fault("servers", misbehaviour, PipelineHome) for misbehaviour in MISBEHAVIOURS),
        *(_fault("servers, bench evaluate", replace(misbehaviour, short=False), BenchHome)
          for misbehaviour in MISBEHAVIOURS[::_STRIDE]),
    ]  # fmt: skip


def _fault(group, misbehaviour, home_type):
    return Fault(
        group=group,
        name=misbehaviour.name,
        cause=misbehaviour.cause,
        expected=EXPECTATIONS[misbehaviour.expected],
        attempt=lambda trial: _evaluate_and_heal(misbehaviour, home_type, trial),
        short=misbehaviour.short,
    )


def _evaluate_and_heal(misbehaviour, home_type, trial):
    """Evaluate once with the misbehaviour and twice after it, and check all that it leaves."""
    folder = trial.folder / "home"
    folder.mkdir()
    with MisbehavingServer(misbehaviour.misbehave) as server, key_set(), logged() as log:
        home = home_type(folder, server.base_url, timeout=misbehaviour.timeout)
        _forget_peak_memory()
        memory_before = _memory("VmRSS")
        first = home.evaluate()
        memory = _memory("VmHWM") - memory_before
        if memory > misbehaviour.max_memory:
            raise FindingError(f"it took {memory} MB of memory")
        n_before = server.counts()
        server.heal()
        values = [first, home.evaluate(), home.evaluate()]
        n_total = server.counts()
        _require_expected(misbehaviour.expected, values, n_before, n_total, server.affected)
        if server.n_without_key:
            raise FindingError("a request came without the key")
    leaks.search(folder, log.getvalue())
    lost = (n_total.received - n_before.received).keys() & server.affected
    effect = "taken for responses"
    if lost:
        effect = f"{len(lost)} of {len(server.affected)} lost and asked again"
    number = "no number" if values[-1] is None else f"{values[-1]:.3f}"
    return f"{effect}; then {number}"


def _require_expected(expected, values, n_before, n_total, affected):
    """Require the expected requests and accuracies.

    Args:
        expected: The expected effect.
        values: Accuracies of the three evaluations.
        n_before: Requests before the server was healed.
        n_total: Requests of all three evaluations.
        affected: Questions on which the server misbehaved.
    """
    asked_again = (n_total.received - n_before.received).keys()
    kept = sorted(affected - asked_again)
    if answered_twice := [index for index, n in n_total.answered.items() if n > 1]:
        raise FindingError(f"asked again though answered: {answered_twice}")
    if expected == "lost" and kept:
        raise FindingError(f"stored as a response: questions {kept}")
    if expected in ("kept", "own", "stops") and asked_again & affected:
        raise FindingError(f"not taken for a response: {sorted(asked_again & affected)}")
    if expected == "stops":
        is_right = values == [None] * len(values)
    elif expected == "own" or (expected == "silent" and kept):
        is_right = all(value is not None and value < CLEAN for value in values)
    else:
        is_right = values[1:] == [CLEAN, CLEAN] and values[0] in (None, CLEAN)
    if not is_right:
        raise FindingError(f"the numbers are {values}, and {CLEAN:.3f} of a healed server")


@contextmanager
def key_set() -> Generator[None]:
    """Set the variable with the key until the block ends."""
    os.environ[KEY_VARIABLE] = KEY
    try:
        yield
    finally:
        del os.environ[KEY_VARIABLE]


@contextmanager
def logged() -> Generator[io.StringIO]:
    """The log of the block, which goes nowhere else."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    log = logging.getLogger("bench_assets")
    log.addHandler(handler)
    propagate, log.propagate = log.propagate, False
    try:
        yield text
    finally:
        log.removeHandler(handler)
        log.propagate = propagate


def _forget_peak_memory() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _memory(field: str) -> int:
    """A field of this process's status in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = [line for line in lines if line.startswith(f"{field}:")]
    return int(line.split()[1]) // 1024
