import subprocess
import sys

import pytest

from bench_assets.core.schema.errors import HomeError
from bench_resources.storage.locks import LockWait, delete_lock_file, hold_locks, is_lock_free

HOLD = """
import sys
from pathlib import Path
from bench_resources.storage.locks import hold_locks
with hold_locks(Path(sys.argv[1]), sys.argv[2:], lambda wait: print(wait, flush=True)):
    print("held", flush=True)
    input()
"""


class Holder:
    """Another process that takes locks, and holds them until it is killed."""

    def __init__(self, program: str, *arguments: object) -> None:
        command = [sys.executable, "-c", program, *map(str, arguments)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def read_line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def fail_if_waiting(wait: LockWait) -> None:
    pytest.fail(str(wait))


@pytest.fixture
def hold(tmp_path):
    holders = []

    def start(*names):
        holders.append(Holder(HOLD, tmp_path, *names))
        return holders[-1]

    yield start
    for holder in holders:
        holder.kill()


def test_a_process_names_the_holder_that_it_waits_for_and_continues_after_its_death(hold):
    first = hold("m on codis", "m on blink")
    assert first.read_line() == "held"
    second, unrelated = hold("m on codis"), hold("n on codis")
    assert second.read_line().startswith(f"m on codis: waiting for process {first.process.pid} on ")
    assert unrelated.read_line() == "held"
    first.kill()
    assert second.read_line() == "held"


def test_a_lock_is_free_after_the_death_of_its_holder(hold, tmp_path):
    assert not is_lock_free(tmp_path, "run 1")  # it was never taken
    holder = hold("run 1")
    assert holder.read_line() == "held"
    assert not is_lock_free(tmp_path, "run 1")
    holder.kill()
    assert is_lock_free(tmp_path, "run 1")


def test_a_lock_file_may_be_deleted_twice(tmp_path):
    with hold_locks(tmp_path, ["run 1"], fail_if_waiting):
        pass
    for _ in range(2):
        delete_lock_file(tmp_path, "run 1")
        assert list(tmp_path.iterdir()) == []


def test_a_lock_named_twice_is_released_after_an_error(tmp_path):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), hold_locks(tmp_path, ["x", "x"], fail_if_waiting):
            raise ZeroDivisionError


def test_a_lock_file_that_cannot_be_created_is_an_error(tmp_path):
    (tmp_path / "locks").write_text("a file")
    with (
        pytest.raises(HomeError, match="cannot lock m on codis"),
        hold_locks(tmp_path / "locks", ["m on codis"], fail_if_waiting),
    ):
        pytest.fail("it was locked")
