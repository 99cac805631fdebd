"""Identity of a process, from which other processes can tell whether it still runs.

Process ids are reused, so the identity includes the start time from ``/proc``. Without ``/proc``,
processes cannot be identified.
"""

import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

_PROC = Path("/proc")
_MACHINE = Path("/etc/machine-id")
_ENDED_STATES = "ZX"  # states of an ended process that its parent has not waited for
_STAT_FIELDS = {"state": 0, "started": 19}  # fields of /proc/PID/stat behind the name in brackets


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIdentity:
    """Identity of a process, unique across machines and time."""

    host: str  # name and id of the machine
    boot: str  # the kernel's boot id; changes at every start of the machine
    pids: str  # PID namespace: a container has its own
    pid: int
    started: int  # clock ticks since the kernel started

    def __str__(self) -> str:
        """Format as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parse the output of ``str``; None for any other text."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError, RecursionError):
            return None


def this_process() -> ProcessIdentity | None:
    """Identity of this process; None without ``/proc``."""
    pid, started = os.getpid(), start_ticks(os.getpid())
    if started is None:
        return None
    machine = _MACHINE.read_text().strip() if _MACHINE.exists() else ""
    return ProcessIdentity(
        host=f"{socket.gethostname()} {machine}".strip(),
        boot=(_PROC / "sys/kernel/random/boot_id").read_text().strip(),
        pids=str((_PROC / "self/ns/pid").readlink()),
        pid=pid,
        started=started,
    )


def start_ticks(pid: int) -> int | None:
    """Start time of a process in clock ticks since boot; None if it does not run."""
    try:
        # The name of a program may contain any bytes, also brackets and spaces.
        fields = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    ended = fields[_STAT_FIELDS["state"]].decode() in _ENDED_STATES
    return None if ended else int(fields[_STAT_FIELDS["started"]])


def has_ended(process: ProcessIdentity, local: ProcessIdentity) -> bool | None:
    """Whether a process has ended; None if unknown on the machine of the ``local`` one."""
    if process.host != local.host:
        return None
    if process.boot != local.boot:
        return True
    if process.pids != local.pids:
        return None
    return start_ticks(process.pid) != process.started
