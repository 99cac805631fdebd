import shutil
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

from tests.faults import leaks
from tests.faults.homes import CLEAN, SPEC, BenchHome
from tests.faults.processes import EVALUATE, require_sentence, running_bench, wait_for
from tests.faults.servers.healing import key_set
from tests.faults.servers.server import MisbehavingServer
from tests.faults.table import Fault, FindingError, SkippedError, Trial

_GROUP = "processes"
_SLOW = 0.5  # s before each response, so that a run lasts long enough to be killed
_STORED = 0.1  # s after which a response is stored: they are written every 20 ms
_SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}


def faults() -> list[Fault]:
    """Faults of processes, which take seconds each."""
    resumed = "the right number after a resume, and nothing that was stored asked again"
    shown = "what can be read is shown, else a sentence that names the place"
    commands = (
        *(EVALUATE, ("tables", "show", "quiz/metrics"), ("leaderboard",)),
        ("tables", "questions", "quiz"),
    )
    expected = "a sentence that names the place, nothing lost; afterwards the right number"
    return [
        _row("kill -9 at a random moment", "three times, then to its end", resumed, _killed,
             is_random=True),
        _row("kill -9 in the middle of the asking", "at the third request", resumed,
             _killed_while_asking),
        *(
            _row(f"{name} in the middle of the asking", "at the second request",
                 "a sentence and a resume", partial(_signalled, signal_number=signal_number))
            for name, signal_number in _SIGNALS.items()
        ),
        _row("two bench evaluate at once", "of one model", "every question asked once",
             _two_at_once),
        *(
            _row(f"no file may be larger than {kilobytes} KiB", "RLIMIT_FSIZE", expected,
                 partial(_limited_file_size, size=kilobytes * 1024))
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
                 partial(_read_only, arguments=command))
            for command in commands
        ),
    ]  # fmt: skip


def _row(name, cause, expected, attempt, *, is_random=False):
    return Fault(
        group=_GROUP, name=name, cause=cause, expected=expected, attempt=attempt,
        short=False, is_random=is_random, timeout=900.0,
    )  # fmt: skip


def _killed(trial: Trial) -> str:
    with MisbehavingServer(latency=_SLOW) as server:
        home = BenchHome(trial.folder / "home", server.base_url)
        for _ in range(3):
            with running_bench(home.folder):
                time.sleep(trial.rng.uniform(1.0, 12.0))
        return _resume(home, server, kills=3)


def _killed_while_asking(trial: Trial) -> str:
    with MisbehavingServer(latency=_SLOW) as server:
        home = BenchHome(trial.folder / "home", server.base_url)
        with running_bench(home.folder):
            _await_requests(server, 3)
            time.sleep(_STORED)
        return _resume(home, server, kills=1)


def _signalled(trial: Trial, signal_number: int) -> str:
    with MisbehavingServer(latency=_SLOW) as server:
        home = BenchHome(trial.folder / "home", server.base_url)
        with running_bench(home.folder) as process:
            _await_requests(server, 2)
            process.send_signal(signal_number)
            status, output = wait_for(process)
        require_sentence(output)
        if status == 0:
            raise FindingError("exit code 0 in spite of the signal")
        return _resume(home, server, kills=1, output=output)


def _two_at_once(trial: Trial) -> str:
    with MisbehavingServer(latency=_SLOW) as server:
        home = BenchHome(trial.folder / "home", server.base_url)
        outputs = []
        with running_bench(home.folder) as first, running_bench(home.folder) as second:
            results = [wait_for(first), wait_for(second)]
        for status, output in results:
            require_sentence(output)
            if status:
                raise FindingError(f"one of them ended with {status}: {output[-300:]}")
            outputs.append(output)
        return _resume(home, server, kills=0, output="".join(outputs))


def _limited_file_size(trial: Trial, size: int) -> str:
    script = 'ulimit -f "$1"; shift; exec "$@"'  # Python ignores SIGXFSZ: writing fails
    with MisbehavingServer() as server:
        home = BenchHome(trial.folder / "home", server.base_url)
        words = ["sh", "-c", script, "sh", str(size // 512)]
        with running_bench(home.folder, EVALUATE, words) as process:
            status, output = wait_for(process)
        return _check_full_disk(home, server, status, output)


def _small_disk(trial: Trial, kilobytes: int) -> str:
    """Evaluate in a home on a small disk, and resume as if the disk had been made larger."""
    home = trial.folder / "home"
    with MisbehavingServer() as server:
        bench_home = BenchHome(home, server.base_url)
        # Everything on the disk is copied back into the folder at the end.
        script = (
            f'set -e; cp -a "$1" "$1.kept"; mount -t tmpfs -o size={kilobytes}k tmpfs "$1";'
            ' cp -a "$1.kept/." "$1"; shift; set +e; "$@"; status=$?;'
            ' cp -a "$BENCH_HOME/." "$BENCH_HOME.kept"; exit $status'
        )
        with running_bench(home, EVALUATE, _mounting(script, home)) as process:
            status, output = wait_for(process)
        shutil.rmtree(home)
        (trial.folder / "home.kept").rename(home)
        return _check_full_disk(bench_home, server, status, output)


def _read_only(trial: Trial, arguments: tuple[str, ...]) -> str:
    """Run a command in an evaluated home on a read-only disk."""
    with MisbehavingServer() as server, key_set():
        home = BenchHome(trial.folder / "home", server.base_url)
        if home.evaluate() != CLEAN:
            raise FindingError("a whole home does not give the right number")
        n_before = server.counts().received.total()
        script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
        with running_bench(home.folder, arguments, _mounting(script, home.folder)) as process:
            status, output = wait_for(process)
        require_sentence(output)
        if status and str(home.folder) not in output:
            raise FindingError(f"the error does not name the place: {output[-300:]}")
        if server.counts().received.total() > n_before:
            raise FindingError("asked what could not be stored")
        return "a sentence that names the place" if status else "shown"


def _check_full_disk(home: BenchHome, server: MisbehavingServer, status: int, output: str) -> str:
    require_sentence(output)
    if status and str(home.folder) not in output:
        raise FindingError(f"the error does not name the place: {output[-300:]}")
    if not status and "0.66" not in output:  # of CLEAN
        raise FindingError(f"another number: {output[-300:]}")
    effect = "a sentence that names the place" if status else "the right number at once"
    resumed = _resume(home, server, kills=1 if status else 0, output=output)
    return f"{effect}; {resumed}"


def _resume(home: BenchHome, server: MisbehavingServer, *, kills: int, output: str = "") -> str:
    """Evaluate to the end; only what was in flight at a kill may have been asked again."""
    with key_set():
        value = home.evaluate()
    if value != CLEAN:
        error = (home.folder / "output.txt").read_text(encoding="utf-8") if value is None else ""
        raise FindingError(f"after a resume the number is {value}; {error}")
    received = server.counts().received
    n_repeated = received.total() - len(received)
    n_in_flight = kills * int(SPEC["concurrency"])
    if n_repeated > n_in_flight:
        raise FindingError(
            f"{n_repeated} asked again, at most {n_in_flight} were in flight: {dict(received)}"
        )
    leaks.search(home.folder, output)
    return f"{CLEAN:.3f}, {n_repeated} asked again"


def _await_requests(server: MisbehavingServer, n_requests: int, timeout: float = 300.0) -> None:
    deadline = time.monotonic() + timeout
    while server.counts().received.total() < n_requests:
        if time.monotonic() > deadline:
            raise FindingError(f"fewer than {n_requests} requests within {timeout:g} s")
        time.sleep(0.02)


def _mounting(script: str, home: Path) -> list[str]:
    """Words before a command that run it in a script which may mount at the home folder."""
    unshare = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
    try:
        subprocess.run([*unshare, "mount -t tmpfs tmpfs /mnt"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SkippedError("nothing can be mounted here") from error
    return [*unshare, script, "sh", str(home)]
