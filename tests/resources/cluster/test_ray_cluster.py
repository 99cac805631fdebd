"""What has no time limit of its own gets one."""

from threading import Event

import pytest

from bench_resources.cluster.ray_cluster import run_with_timeout


def test_what_takes_longer_is_left_alone() -> None:
    released = Event()
    with pytest.raises(TimeoutError, match=r"^0 s$"):
        run_with_timeout(0.05, released.wait)
    assert not released.is_set()  # it still waits
    released.set()
