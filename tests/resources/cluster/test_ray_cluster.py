from threading import Event

import pytest

from bench_resources.cluster.ray_cluster import run_with_timeout


def test_a_call_beyond_its_time_limit_is_an_error_and_goes_on() -> None:
    released = Event()
    with pytest.raises(TimeoutError, match=r"^0 s$"):
        run_with_timeout(0.05, released.wait)
    assert not released.is_set()  # the call still waits
    released.set()
