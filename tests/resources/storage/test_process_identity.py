"""Which process a run belongs to, and whether it still is there."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from bench_resources.storage.process_identity import (
    ProcessIdentity,
    has_ended,
    start_ticks,
)


def ticks(pid: int) -> int:
    started = start_ticks(pid)
    assert started is not None
    return started


HERE = ProcessIdentity(
    host="a", boot="1", pids="pid:[1]", pid=os.getpid(), started=ticks(os.getpid())
)


@pytest.mark.parametrize(
    ("changed", "gone"),
    [
        pytest.param({}, False, id="the one that asks"),
        pytest.param({"started": HERE.started - 1}, True, id="whose number was given again"),
        pytest.param({"boot": "0"}, True, id="before the machine started anew"),
        pytest.param({"host": "b"}, None, id="of another machine: nobody here can tell"),
        pytest.param({"host": "b", "boot": "0"}, None, id="of another machine, as always"),
        pytest.param({"pids": "pid:[2]"}, None, id="of a container, with numbers of its own"),
    ],
)
def test_a_process_is_gone_if_that_is_certain(changed, gone):
    assert has_ended(replace(HERE, **changed), HERE) is gone


def test_a_killed_process_is_gone_before_anybody_asks_how_it_ended():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = replace(HERE, pid=child.pid, started=ticks(child.pid))
    assert has_ended(process, HERE) is False
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it stays a zombie
    assert has_ended(process, HERE) is True
    child.communicate()
    assert has_ended(process, HERE) is True


def test_a_program_may_have_any_name(tmp_path):
    program = tmp_path / "a) R 1 ("
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "60"]) as child:
        assert ticks(os.getpid()) <= ticks(child.pid) < ticks(os.getpid()) + 10**9
        child.kill()
