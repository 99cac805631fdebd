"""What has no time limit of its own gets one."""

import time

import pytest

from bench_resources.cluster.ray_cluster import run_with_timeout


def test_what_takes_longer_is_left_alone() -> None:
    began = time.monotonic()
    with pytest.raises(TimeoutError, match=r"^0 s$"):
        run_with_timeout(0.05, lambda: time.sleep(1))
    assert time.monotonic() - began < 0.9
