"""One process at a time makes a table, and a dead one keeps nobody waiting."""

import subprocess
import sys

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_resources.storage.locks import delete_lock_file, hold_locks, is_lock_free

HOLD = """
import sys
from pathlib import Path
from bench_resources.storage.locks import hold_locks
with hold_locks(Path(sys.argv[1]), sys.argv[2:], lambda why: print(why, flush=True)):
    print("held", flush=True)
    input()
"""


class Holder:
    """Another process that takes locks by a program, and holds them until it is told."""

    def __init__(self, program: str, *words: object) -> None:
        command = [sys.executable, "-c", program, *map(str, words)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def says(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def hold(tmp_path):
    holders = []

    def start(*names):
        holders.append(Holder(HOLD, tmp_path, *names))
        return holders[-1]

    yield start
    for holder in holders:
        holder.kill()


def test_the_second_waits_says_for_whom_and_goes_on_when_the_first_is_killed(hold):
    first = hold("m on codis", "m on blink")
    assert first.says() == "held"
    second, other = hold("m on codis"), hold("n on codis")
    assert second.says().startswith(f"m on codis: waiting for process {first.process.pid} on ")
    assert other.says() == "held"
    first.kill()
    assert second.says() == "held"


def test_a_lock_is_free_when_its_holder_is_gone(hold, tmp_path):
    assert not is_lock_free(tmp_path, "run 1")  # nobody ever held it: that says nothing
    holder = hold("run 1")
    assert holder.says() == "held"
    assert not is_lock_free(tmp_path, "run 1")
    holder.kill()
    assert is_lock_free(tmp_path, "run 1")
    delete_lock_file(tmp_path, "run 1")
    delete_lock_file(tmp_path, "run 1")
    assert not list(tmp_path.iterdir())


def test_locks_are_taken_again_by_one_process_after_another_error(tmp_path):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), hold_locks(tmp_path, ["x", "x"], pytest.fail):
            raise ZeroDivisionError


def test_where_no_lock_can_be_a_sentence_says_so(tmp_path):
    (tmp_path / "locks").write_text("a file")
    with (
        pytest.raises(SettingsError, match="cannot lock m on codis"),
        hold_locks(tmp_path / "locks", ["m on codis"], pytest.fail),
    ):
        pytest.fail("it was locked")
