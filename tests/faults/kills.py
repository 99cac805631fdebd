"""Runs that are killed, interrupted, started twice; homes that are full or read-only."""

import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.faults import leaks
from tests.faults.homes import CLEAN, SPEC, Whole
from tests.faults.processes import EVALUATE, ended, require_sentence, running
from tests.faults.servers.healing import key_set
from tests.faults.servers.server import MisbehavingServer
from tests.faults.table import Fault, FoundError, SkippedError, Trial

_GROUP = "processes"
_SLOW = 0.5  # s before each response, so that there is a middle in which to be killed
_STORED = 0.1  # s after which a response is stored: those of 20 ms are written together
_SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}


def faults() -> list[Fault]:
    """All of them take seconds."""
    resumed = "the right number after a resume, and nothing that was stored asked again"
    shown = "what can be read is shown, else a sentence that names the place"
    words = (
        *(EVALUATE, ("tables", "show", "quiz/metrics"), ("leaderboard",)),
        ("tables", "questions", "quiz"),
    )
    expected = "a sentence that names the place, nothing lost; afterwards the right number"
    return [
        _row("kill -9 at a random moment", "three times, then to its end", resumed, _killed,
             drawn=True),
        _row("kill -9 in the middle of the asking", "at the third request", resumed,
             _killed_while_waiting),
        *(
            _row(f"{name} in the middle of the asking", "at the second request",
                 "a sentence and a resume", partial(_signalled, number=number))
            for name, number in _SIGNALS.items()
        ),
        _row("two bench evaluate at once", "of one model", "every question asked once", _twice),
        *(
            _row(f"no file may be larger than {kilobytes} KiB", "RLIMIT_FSIZE", expected,
                 partial(_limited, size=kilobytes * 1024))
            for kilobytes in (0, 4, 16, 48, 100, 200)
        ),
        *(
            _row(f"a disk of {kilobytes} KiB", "a tmpfs of its own", expected,
                 partial(_small_disk, kilobytes=kilobytes))
            for kilobytes in (64, 256, 700, 1400)
        ),
        *(
            _row(f"bench {' '.join(command[:2])} in a home that may only be read",
                 "a read-only mount", shown,
                 partial(_read_only, words=command))
            for command in words
        ),
    ]  # fmt: skip


def _row(
    name: str, made: str, must: str, attempt: Callable[[Trial], str], *, drawn: bool = False
) -> Fault:
    return Fault(
        group=_GROUP, name=name, made=made, must=must, attempt=attempt,
        short=False, drawn=drawn, longest=900.0,
    )  # fmt: skip


def _killed(trial: Trial) -> str:
    with MisbehavingServer(latency=_SLOW) as server:
        door = Whole(trial.folder / "home", server.base_url)
        for _ in range(3):
            with running(door.home):
                time.sleep(trial.rng.uniform(1.0, 12.0))
        return _resumed(door, server, kills=3)


def _killed_while_waiting(trial: Trial) -> str:
    with MisbehavingServer(latency=_SLOW) as server:
        door = Whole(trial.folder / "home", server.base_url)
        with running(door.home):
            _await_requests(server, 3)
            time.sleep(_STORED)
        return _resumed(door, server, kills=1)


def _signalled(trial: Trial, number: int) -> str:
    with MisbehavingServer(latency=_SLOW) as server:
        door = Whole(trial.folder / "home", server.base_url)
        with running(door.home) as process:
            _await_requests(server, 2)
            process.send_signal(number)
            status, output = ended(process)
        require_sentence(output)
        if status == 0:
            raise FoundError("it ended as if all were well")
        return _resumed(door, server, kills=1, output=output)


def _twice(trial: Trial) -> str:
    with MisbehavingServer(latency=_SLOW) as server:
        door = Whole(trial.folder / "home", server.base_url)
        with running(door.home) as one, running(door.home) as other:
            ends = [ended(one), ended(other)]
        for status, output in ends:
            require_sentence(output)
            if status:
                raise FoundError(f"one of them ended with {status}: {output[-300:]}")
        return _resumed(door, server, kills=0, output=ends[0][1] + ends[1][1])


def _limited(trial: Trial, size: int) -> str:
    script = 'ulimit -f "$1"; shift; exec "$@"'  # Python ignores SIGXFSZ: writing fails
    with MisbehavingServer() as server:
        door = Whole(trial.folder / "home", server.base_url)
        words = ["sh", "-c", script, "sh", str(size // 512)]
        with running(door.home, EVALUATE, words) as process:
            status, output = ended(process)
        return _full(door, server, status, output)


def _small_disk(trial: Trial, kilobytes: int) -> str:
    home = trial.folder / "home"
    with MisbehavingServer() as server:
        door = Whole(home, server.base_url)
        # What was written goes back to the folder, as if the disk had been made larger.
        script = (
            f'set -e; cp -a "$1" "$1.kept"; mount -t tmpfs -o size={kilobytes}k tmpfs "$1";'
            ' cp -a "$1.kept/." "$1"; shift; set +e; "$@"; status=$?;'
            ' cp -a "$BENCH_HOME/." "$BENCH_HOME.kept"; exit $status'
        )
        with running(home, EVALUATE, _mounting(script, home)) as process:
            status, output = ended(process)
        shutil.rmtree(home)
        (trial.folder / "home.kept").rename(home)
        return _full(door, server, status, output)


def _read_only(trial: Trial, words: tuple[str, ...]) -> str:
    with MisbehavingServer() as server, key_set():
        door = Whole(trial.folder / "home", server.base_url)
        if door.evaluate() != CLEAN:
            raise FoundError("a whole home does not give the right number")
        before = server.counts().received.total()
        script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
        with running(door.home, words, _mounting(script, door.home)) as process:
            status, output = ended(process)
        require_sentence(output)
        if status and str(door.home) not in output:
            raise FoundError(f"the error does not name the place: {output[-300:]}")
        if server.counts().received.total() > before:
            raise FoundError("asked what could not be stored")
        return "a sentence that names the place" if status else "shown"


def _full(door: Whole, server: MisbehavingServer, status: int, output: str) -> str:
    require_sentence(output)
    if status and str(door.home) not in output:
        raise FoundError(f"the error does not name the place: {output[-300:]}")
    if not status and not re.search(r"0\.66", output):
        raise FoundError(f"another number: {output[-300:]}")
    how = "a sentence that names the place" if status else "the right number at once"
    return f"{how}; {_resumed(door, server, kills=1 if status else 0, output=output)}"


def _resumed(door: Whole, server: MisbehavingServer, *, kills: int, output: str = "") -> str:
    """Evaluate to the end; only what was in flight at a kill may have been asked again."""
    with key_set():
        value = door.evaluate()
    if value != CLEAN:
        why = (door.home / "said.txt").read_text(encoding="utf-8") if value is None else ""
        raise FoundError(f"after a resume the number is {value}; {why}")
    received = server.counts().received
    again, allowed = received.total() - len(received), kills * int(SPEC["concurrency"])
    if again > allowed:
        raise FoundError(f"{again} asked again, at most {allowed} were in flight: {dict(received)}")
    leaks.search(door.home, output)
    return f"{CLEAN:.3f}, {again} asked again"


def _await_requests(server: MisbehavingServer, n: int, longest: float = 300.0) -> None:
    until = time.monotonic() + longest
    while server.counts().received.total() < n:
        if time.monotonic() > until:
            raise FoundError(f"no {n} requests within {longest:g} s")
        time.sleep(0.02)


def _mounting(script: str, home: Path) -> list[str]:
    words = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
    try:
        subprocess.run([*words, "mount -t tmpfs tmpfs /mnt"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SkippedError("nothing can be mounted here") from error
    return [*words, script, "sh", str(home)]
