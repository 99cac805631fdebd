"""Processes that listen on a local port (Linux)."""

import os
from contextlib import suppress
from pathlib import Path

_LISTENS = "0A"


def listened_before(port: int, moment: float) -> bool:
    """Whether a process listens there that was started before a moment: it is none of ours.

    False where that cannot be told: on other systems, or for others' processes.

    Args:
        port: The port.
        moment: s since the epoch.
    """
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    holders = [pid for pid in _processes() if sockets & _open(pid)] if sockets else []
    return any(_started(pid) < moment - _TICK for pid in holders)


_TICK = 1.0  # s; process times are told in hundredths, and the time of the start in whole seconds


def _inodes(port: int) -> set[str]:
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                _, local, _, state, *more = line.split()
                if state == _LISTENS and int(local.rpartition(":")[2], 16) == port:
                    found.add(more[5])
    return found


def _processes() -> list[str]:
    with suppress(OSError):
        return [entry for entry in os.listdir("/proc") if entry.isdigit()]  # noqa: PTH208
    return []


def _open(pid: str) -> set[str]:
    """What a process has open; nothing of others' processes."""
    held = set()
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                held.add(str(entry.readlink()))
    return held


def _started(pid: str) -> float:
    """When a process began, in s since the epoch; the far future where that is not told."""
    with suppress(OSError, ValueError, IndexError):
        ticks = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
        booted = next(
            int(line.split()[1])
            for line in Path("/proc/stat").read_text().splitlines()
            if line.startswith("btime ")
        )
        return booted + ticks / os.sysconf("SC_CLK_TCK")
    return float("inf")
