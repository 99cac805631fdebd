import os
import subprocess
import sys
from dataclasses import replace

import pytest

from bench_resources.storage.process_identity import ProcessIdentity, has_ended, start_ticks


def require_start_ticks(pid: int) -> int:
    started = start_ticks(pid)
    assert started is not None
    return started


THIS_PROCESS = ProcessIdentity(
    host="a", boot="1", pids="pid:[1]", pid=os.getpid(), started=require_start_ticks(os.getpid())
)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, False, id="this process"),
        pytest.param({"started": THIS_PROCESS.started - 1}, True, id="its id was reused"),
        pytest.param({"boot": "0"}, True, id="before a restart of the machine"),
        pytest.param({"host": "b"}, None, id="of another machine"),
        pytest.param({"host": "b", "boot": "0"}, None, id="of another machine, before a restart"),
        pytest.param({"pids": "pid:[2]"}, None, id="of a container with its own process ids"),
    ],
)
def test_a_process_has_ended_only_if_that_is_certain(changes, expected):
    assert has_ended(replace(THIS_PROCESS, **changes), THIS_PROCESS) is expected


def test_a_zombie_has_ended():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = replace(THIS_PROCESS, pid=child.pid, started=require_start_ticks(child.pid))
    assert has_ended(process, THIS_PROCESS) is False
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it stays a zombie
    assert has_ended(process, THIS_PROCESS) is True
    child.communicate()
    assert has_ended(process, THIS_PROCESS) is True


def test_a_name_with_brackets_and_spaces_does_not_hide_the_start_time(tmp_path):
    program = tmp_path / "a) R 1 ("
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "60"]) as child:
        started = require_start_ticks(child.pid)
        child.kill()
    assert 0 <= started - THIS_PROCESS.started < 10**9  # ticks: the child is a little younger
